"""The public log in a release: a head, and proofs of the release's scores."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import opened
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.board_ratings import board_scores
from leaderboard.releases.bundle import CHECKSUMS, LOG, Record, batched
from leaderboard.tasks.models import Task

_AT_ONCE = 500
# Number of earlier releases whose heads are proved to be prefixes of this one's.
_EARLIER = 200


def write(folder: Path, task: Task) -> None:
    """Write the head of the log on the first line, then one entry per line."""
    log.number()
    head = log.head()
    with (folder / LOG).open("w", encoding="utf-8", newline="\n") as lines:
        for record in [_first(head), *_entries(task, head.size)]:
            lines.write(f"{json.dumps(record, ensure_ascii=False)}\n")


def made(folder: Path, task: Task) -> None:
    """Log the release by a hash that covers all of its files."""
    digest = hashlib.sha256((folder / CHECKSUMS).read_bytes()).hexdigest()
    with (folder / LOG).open(encoding="utf-8") as lines:
        size = json.loads(lines.readline())["size"]
    data = {"task": task.slug, "checksums_sha256": digest, "log_size": size}
    said = LogEntry.objects.filter(kind=log.Kind.RELEASE, about=task.pk)
    # an earlier process may have ended before this was logged
    if all(
        json.loads(text) != data
        for text in said.exclude(data="").values_list("data", flat=True)
    ):
        log.append(log.Kind.RELEASE, data, about=task.pk)


def _first(head: LogHead) -> Record:
    newest = LogEntry.objects.filter(kind=log.Kind.RELEASE).exclude(data="")
    said = newest.order_by("-pk").values_list("data", flat=True)[:_EARLIER]
    sizes = {json.loads(text)["log_size"] for text in said}
    earlier = LogHead.objects.filter(size__in=sizes, size__lte=head.size)
    return {
        "size": head.size,
        "root": head.root,
        "at": f"{head.at:%Y-%m-%dT%H:%M:%SZ}",
        "earlier": [
            {
                "size": one.size,
                "root": one.root,
                "consistency": log.consistency(one.size, head.size),
            }
            for one in earlier
        ],
    }


def _entries(task: Task, size: int) -> Iterator[Record]:
    scores = board_scores(task).values_list("pk", flat=True)
    results = HumanEvaluation.objects.filter(task=task, submission=None)
    yield from _of(log.Kind.SCORE, list(scores), size)
    pks = results.order_by("pk").values_list("pk", flat=True)
    yield from _of(log.Kind.RESULT, list(pks), size)


def _of(kind: log.Kind, pks: Sequence[int], size: int) -> Iterator[Record]:
    for some in batched(pks, _AT_ONCE):
        rows = LogEntry.objects.filter(kind=kind, about__in=some, number__lt=size)
        # a score that was filled in later has several entries: the last one has its
        # number
        last = {row.about: row for row in rows.order_by("number")}
        shown = [one for one in opened(list(last.values())) if one["data"]]
        shown.sort(key=lambda one: int(one["number"]))
        proofs = log.inclusion([one["number"] for one in shown], size)
        for one, proof in zip(shown, proofs, strict=True):
            sent = {name: one[name] for name in ("number", "body", "salt", "data")}
            yield {**sent, "inclusion": proof}
