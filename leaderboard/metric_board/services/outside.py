"""Outside metrics: upload with problems by line number, publication and withdrawal."""

import hashlib
import re
from dataclasses import asdict
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from genie.lib import jobs
from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.typing import Account
from leaderboard.metric_board.models.outside import OutsideMetric, OutsideScores
from leaderboard.metric_board.readers import ScoreFile, read_scores
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.submissions.services.submit import exempt_from_quota
from leaderboard.tasks.models import Task

# Files per person and task within so many days; withdrawn ones count, too.
QUOTA, QUOTA_DAYS = 10, 7
_WAIT = timedelta(seconds=5)
# Limits for reading one file.
LIMITS = Limits(cpu_seconds=5, memory_bytes=400 << 20)
NAME_CHARACTERS, DESCRIPTION_CHARACTERS = 60, 2_000
_UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_REFRESH = "leaderboard.jobs.refresh_metric_boards"


def receive(
    *,
    task: Task,
    owner: Account,
    name: str,
    file: BinaryIO,
    file_name: str,
    description: str = "",
    higher_is_better: bool = True,
) -> OutsideMetric:
    """Store a file of scores; only its owner sees it until it is published."""
    name = _checked_name(name)
    if len(description) > DESCRIPTION_CHARACTERS or _UNSTORABLE.search(description):
        raise GenieError(
            f"The description must be text of at most {DESCRIPTION_CHARACTERS:,} "
            "characters.",
            code="bad-description",
        )
    _refuse_over_quota(task, owner)  # before reading a large file in vain
    parsed = _read(task, file)
    with transaction.atomic():
        # The lock makes simultaneous uploads count one after the other.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        _refuse_over_quota(task, owner)
        same_name = OutsideMetric.objects.filter(task=task, owner=owner, name=name)
        if same_name.filter(withdrawn_at=None).exists():
            raise GenieError(
                f"You already have a metric {name} on this task; withdraw it first, or "
                "choose another name.",
                code="name-taken",
            )
        metric = OutsideMetric.objects.create(
            task=task,
            owner_id=owner.pk,
            name=name,
            description=description.strip(),
            higher_is_better=higher_is_better,
            file_name=_UNFIT.sub("", file_name)[-200:] or "scores",
            file_sha256=_sha256(file),
            file_format=parsed.format,
            by_instance=parsed.by_instance,
        )
        OutsideScores.objects.bulk_create(
            OutsideScores(
                metric=metric,
                submission_id=pk,
                value=scores.value,
                per_instance=scores.per_instance,
            )
            for pk, scores in sorted(parsed.scores.items())
        )
    return metric


def publish(metric: OutsideMetric) -> bool:
    """Publish a metric on its task's board; return False if it is there or withdrawn."""
    waiting = OutsideMetric.objects.filter(
        pk=metric.pk, published_at=None, withdrawn_at=None
    )
    with transaction.atomic():
        published = waiting.update(published_at=timezone.now())
        if published:
            jobs.enqueue(_REFRESH)
    return bool(published)


def withdraw(metric: OutsideMetric) -> bool:
    """Withdraw a metric; its numbers are kept but no longer shown."""
    standing = OutsideMetric.objects.filter(pk=metric.pk, withdrawn_at=None)
    with transaction.atomic():
        withdrawn = standing.update(withdrawn_at=timezone.now())
        if withdrawn:
            jobs.enqueue(_REFRESH)
    return bool(withdrawn)


def systems_of(task: Task) -> dict[str, list[int]]:
    """Return the accepted names of the systems on the task's board: names and numbers."""
    pks_by_name: dict[str, list[int]] = {}
    rows = Submission.objects.filter(public(), task=task).order_by("pk")
    for pk, name in rows.values_list("pk", "system_name"):
        pks_by_name.setdefault(name, []).append(pk)
    for pk in [pk for pks in pks_by_name.values() for pk in pks]:
        # a system's name may be a number: names take precedence
        pks_by_name.setdefault(str(pk), [pk])
    return pks_by_name


def _read(task: Task, file: BinaryIO) -> ScoreFile:
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    # Reading one file may need the memory of several web processes.
    with one_at_a_time("metric-scores") as free:
        if not free:
            raise GenieError(
                "Another file of scores is being read; try again in a few seconds.",
                code="throttled",
                details={"next_at": (timezone.now() + _WAIT).isoformat()},
            )
        try:
            parsed = call_bounded(
                read_scores,
                file,
                LIMITS,
                systems=systems_of(task),
                instance_ids=list(ids),
                max_bytes=settings.GENIE["MAX_UPLOAD_BYTES"],
            )
        except LimitExceeded:
            raise GenieError(
                "Reading this file takes too much time or memory; upload one "
                "score for each output and nothing else.",
                code="bad-scores",
            ) from None
    if not parsed.ok:
        raise GenieError(
            " ".join(problem.message for problem in parsed.problems),
            code="bad-scores",
            details={"problems": [asdict(problem) for problem in parsed.problems]},
        )
    return parsed


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def _checked_name(name: str) -> str:
    name = name.strip()
    visible = any(sign.isprintable() and not sign.isspace() for sign in name)
    if not visible or len(name) > NAME_CHARACTERS or _UNFIT.search(name):
        raise GenieError(
            f"The metric's name must have 1 to {NAME_CHARACTERS} visible characters on "
            "one line.",
            code="bad-name",
        )
    return name


def _refuse_over_quota(task: Task, owner: Account) -> None:
    if exempt_from_quota(owner, "leaderboard.add_outsidemetric"):
        return
    since = timezone.now() - timedelta(days=QUOTA_DAYS)
    rows = OutsideMetric.objects.filter(task=task, owner=owner, created_at__gt=since)
    times = list(rows.order_by("created_at").values_list("created_at", flat=True))
    if len(times) < QUOTA:
        return
    next_at = times[len(times) - QUOTA] + timedelta(days=QUOTA_DAYS)
    raise GenieError(
        f"You have uploaded {len(times)} of the {QUOTA} score files allowed for "
        f"this task in {QUOTA_DAYS} days; the next is possible on "
        f"{next_at:%Y-%m-%d at %H:%M} UTC.",
        code="quota-reached",
        details={"used": len(times), "limit": QUOTA, "next_at": next_at.isoformat()},
    )
