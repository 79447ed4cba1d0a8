"""Entries of scores and results in the public log, and who may read them."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.core.cache import caches
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import JSONObject
from django.utils import timezone

from genie.history import log, shown
from genie.history.models import LogEntry
from genie.upkeep.doctor import Finding, worst
from genie.upkeep.doctor import register as register_examination
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    Score,
)
from leaderboard.evaluation.result_columns import columns_of, joint_row
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.submissions.services import lifecycle

# Large integers that some readers of JSON round: seeds.
_SHORT = 15
# The key of the stored comparison, and how many differences it names.
COMPARED = "scores-and-log"
_SHOWN, _KEPT_SECONDS = 20, 86_400


def scores(rows: Iterable[Score]) -> None:
    log.append_all(log.Kind.SCORE, [(score.pk, _content(score)) for score in rows])


def _content(score: Score) -> dict[str, Any]:
    numbers = {column.name: getattr(score, column.name) for column in columns_of("log")}
    # JSON has no infinity
    return {"submission": score.submission_id} | {
        name: None if isinstance(one, float) and not math.isfinite(one) else one
        for name, one in numbers.items()
    }


def log_as_found(plan: Sequence[tuple[Any, bool]] = (), **_sent: Any) -> None:
    """Log scores without an entry once an upgrade has changed our tables.

    `flush` sends the signal without a plan.
    """
    if any(one.app_label == "leaderboard" and not back for one, back in plan):
        logged = LogEntry.objects.filter(kind=log.Kind.SCORE, about=OuterRef("pk"))
        rows = Score.objects.filter(~Exists(logged), superseded_at=None).order_by("pk")
        found = [(row.pk, _content(row) | {"found": "at the upgrade"}) for row in rows]
        log.append_all(log.Kind.SCORE, found)


def differing_scores(of: Q | None = None) -> tuple[Sequence[Score], int]:
    """Return the current scores that differ from their last entry, and how many match."""
    entries = LogEntry.objects.filter(kind=log.Kind.SCORE, about=OuterRef("pk"))
    read = JSONObject(data="data", salt="salt", commitment="commitment")
    last = Subquery(entries.order_by("-pk").values_list(read)[:1])
    # one query, so that no score changes between a score and its entry
    rows = Score.objects.filter(of or Q(), superseded_at=None).annotate(last=last)
    different = [score for score in rows if not _matches(score, score.last)]
    return different, len(rows) - len(different)


def _matches(score: Score, last: Mapping[str, str] | None) -> bool:
    if last is None or not LogEntry(kind=log.Kind.SCORE, **last).opens:
        return False
    logged = json.loads(last["data"])
    # An entry from before an upgrade lacks the columns that came with it.
    return all(logged.get(name) == one for name, one in _content(score).items())


def compare_public_scores() -> dict[str, Any]:
    """Compare, and store the result for the page; `shown` are some that differ."""
    now = timezone.now()
    different, n_match = differing_scores(public_scores())
    shown = [(one.submission_id, one.criterion) for one in different[:_SHOWN]]
    found = {
        "n_match": n_match,
        "n_different": len(different),
        "shown": shown,
        "at": now,
    }
    caches["shared"].set(COMPARED, found, _KEPT_SECONDS)
    return found


def compare_scores() -> Finding:
    different, n_match = differing_scores()
    points = {
        f"score {score.pk}": f"submission {score.submission_id}, {score.criterion}: "
        f"{score.mean:.2f} differs from its last entry in the public log"
        for score in different
    }
    return Finding(
        worst(len(different)),
        f"current scores that match their last log entry: {n_match:,}; that differ: "
        f"{len(different):,}",
        points,
    )


def result(row: Comparison | JointEvaluation, **found: Any) -> None:
    exact = json.loads(
        json.dumps(found),
        parse_int=lambda digits: int(digits) if len(digits) <= _SHORT else digits,
    )
    data = {str(row._meta.model_name): row.pk} | exact
    log.append(log.Kind.RESULT, data, about=row.pk)


def joint_result(row: JointEvaluation, results: Mapping[str, Any]) -> None:
    """Log the systems' results without data on workers."""
    of = {
        criterion: {
            "systems": [
                {"submission": system["submission_id"], **joint_row(system, "log")}
                for system in found["systems"]
            ],
            **{name: found[name] for name in ("ratings_sha256", "signature")},
        }
        for criterion, found in results["criteria"].items()
    }
    result(row, criteria=of)


def register() -> None:
    """Make scores of published systems and public results visible in the log."""
    shown.register(log.Kind.SCORE, _public_scores)
    shown.register(log.Kind.RESULT, _public_results)
    shown.register(log.Kind.BAN)
    shown.register(log.Kind.RELEASE)
    register_examination("scores", compare_scores, slow=True)


def public_scores() -> Q:
    return public("submission__") & Q(submission__published_at__isnull=False)


def _public_scores(pks: Collection[int]) -> set[int]:
    rows = Score.objects.filter(public_scores(), pk__in=pks)
    return set(rows.values_list("pk", flat=True))


def _public_results(pks: Collection[int]) -> set[int]:
    # imported late: every command registers this, without needing it
    from leaderboard.evaluation.selectors.comparisons import comparisons_seen_by
    from leaderboard.evaluation.selectors.joint import joint_seen_by

    rows = HumanEvaluation.objects.filter(
        Q(pk__in=comparisons_seen_by(None).order_by().values("pk"))
        | Q(pk__in=joint_seen_by(None).order_by().values("pk")),
        pk__in=pks,
    )
    return set(rows.values_list("pk", flat=True))


State = Submission.State


def publish_submission(pk: int) -> bool:
    """Go from SCORED to PUBLISHED; only its team sees a private submission."""
    private = Submission.objects.filter(
        pk=pk, visibility=Submission.Visibility.PRIVATE
    ).exists()
    now = timezone.now()
    rows = Submission.objects.filter(pk=pk, own_state=State.MEASURED, published_at=None)
    if not rows.update(published_at=now):
        return False
    lifecycle.tell(
        pk,
        State.PUBLISHED,
        "The result is ready; the submission is private, so only the team can see it."
        if private
        else "The result is on the board.",
    )
    return True
