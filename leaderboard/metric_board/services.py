from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.runner import Runner
from genie.lib.seeds import seed_from
from genie.lib.serving.caches import Stamp, is_unmoved, looked_in_vain, stamps
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.typing import Account
from leaderboard.designs.base import Unit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    dated_ratings_of,
    launched_evaluations,
    unit_for,
)
from leaderboard.metric_board.models import MetricBoard, OutsideMetric, OutsideScores
from leaderboard.metric_board.readers import ScoreFile, read_scores
from leaderboard.metric_board.selectors.snapshot import (
    BOARD_VERSION,
    BoardInputs,
    BoardMetric,
    BoardSystem,
    board_inputs,
    criteria_of,
)
from leaderboard.metric_board.stats.snapshot import (
    FEWEST,
    BoardScores,
    EachRating,
    MetricScores,
    metric_board,
)
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.stats.intervals import Floats
from leaderboard.submissions.models import Submission, SubmissionEvent
from leaderboard.submissions.selectors import public
from leaderboard.submissions.services.submit import exempt_from_quota
from leaderboard.tasks.models import Task

# Computation of metric boards, by a job, whenever their inputs have changed.
if TYPE_CHECKING:
    import pandas as pd

State = MetricBoard.State
RUNNER = Runner(
    MetricBoard,
    "leaderboard.jobs.compute_metric_board",
    states=[State.WAITING],
    failed=State.FAILED,
)
# Number of snapshots kept per board, including the one shown.
KEPT = 5


def refresh_all() -> int:
    """Queue every board whose inputs have changed; return the number queued."""
    moved, wanted = _changed_stamps(), list[int]()
    for task in Task.objects.order_by("pk"):
        name = f"metric-boards-of-{task.pk}-{task.created_at.timestamp()}"
        stamp = (json.dumps(task.config, sort_keys=True), moved.get(task.pk))
        if is_unmoved(name, stamp):
            continue
        boards = [_demand(task, criterion) for criterion in criteria_of(task)]
        wanted += [board.pk for board in boards if board is not None]
        looked_in_vain(name, stamp)
    return jobs.enqueue_missing((RUNNER.job, {"pk": pk}) for pk in wanted)


def _changed_stamps() -> dict[int, Stamp]:
    submission = "submission__task"
    partial = HumanEvaluation.objects.filter(ranks_partial=True)
    running = MetricRun.objects.filter(state=MetricRun.State.RUNNING)
    outside = OutsideMetric.objects.filter(withdrawn_at=None)
    return stamps(
        (Submission.objects.filter(public()), "task", "pk"),
        (SubmissionEvent.objects.all(), submission, "pk"),
        (Score.objects.filter(superseded_at=None), submission, "pk"),
        (partial, "task", "pk"),
        (MetricResult.objects.all(), submission, "pk"),
        (running, "task", "pk"),
        (outside.exclude(published_at=None), "task", "published_at"),
        (OutsideScores.objects.all(), "metric__task", "pk"),
        (MetricBoard.objects.all(), "task", "wanted_at"),
    )


def refresh(task: Task) -> int:
    """Queue one task's boards whose inputs have changed; return the number queued."""
    boards = [_demand(task, criterion) for criterion in criteria_of(task)]
    return jobs.enqueue_missing(
        (RUNNER.job, {"pk": b.pk}) for b in boards if b is not None
    )


def _demand(task: Task, criterion: str) -> MetricBoard | None:
    inputs = board_inputs(task, criterion)
    boards = MetricBoard.objects.filter(task=task, criterion=criterion)
    newest = boards.order_by("-wanted_at", "-pk").first()
    digest = inputs.sha256()
    if newest is None and not inputs.systems:
        return None
    if newest is None or newest.inputs_sha256 != digest:
        few = len(inputs.systems) < FEWEST
        newest, _ = MetricBoard.objects.update_or_create(
            task=task,
            criterion=criterion,
            inputs_sha256=digest,
            defaults={"wanted_at": timezone.now()},
            create_defaults={
                "wanted_at": timezone.now(),
                "state": State.TOO_FEW if few else State.WAITING,
                "seed": seed_from("metric board", task.slug, criterion, digest),
                "code_version": f"{settings.VERSION}+{BOARD_VERSION}",
                "simulated": inputs.simulated,
                "n_systems": len(inputs.systems),
            },
        )
        _prune(task, criterion)
    return newest if newest.state == State.WAITING else None


def _prune(task: Task, criterion: str) -> None:
    boards = MetricBoard.objects.filter(task=task, criterion=criterion)
    newest = boards.order_by("-wanted_at", "-pk").values_list("pk", flat=True)
    ended = newest.exclude(state=State.WAITING)
    # Keep the newest finished one, which the page shows, even if a newer one waits.
    ready = newest.filter(state=State.READY)
    boards.exclude(pk__in={*newest[:1], *ended[:KEPT], *ready[:1]}).delete()


def compute(pk: int) -> None:
    RUNNER.run(pk, _compute)


def _compute(row: QuerySet[MetricBoard]) -> None:
    """Compute a waiting board; all computing is done before the single write."""
    board = row.select_related("task").get()
    inputs = board_inputs(board.task, board.criterion)
    if inputs.sha256() != board.inputs_sha256:
        refresh(board.task)  # inputs changed meanwhile
        return
    start = time.monotonic()
    payload = payload_of(board.task, inputs, seed=board.seed)
    row.update(
        state=State.READY,
        payload=payload,
        failure="",
        seconds=round(time.monotonic() - start, 3),
        computed_at=timezone.now(),
    )


def retry(board: MetricBoard) -> bool:
    failed = MetricBoard.objects.filter(pk=board.pk, state=State.FAILED)
    with transaction.atomic():
        again = RUNNER.retry(failed)
        if again:
            jobs.enqueue(RUNNER.job, pk=board.pk)
    return bool(again)


def payload_of(task: Task, inputs: BoardInputs, *, seed: int) -> dict[str, Any]:
    human, each = _human(task, inputs)
    scores = BoardScores(
        human=human,
        metrics=[_scores(task, metric, inputs.systems) for metric in inputs.metrics],
        ratings=each,
    )
    return {
        **metric_board(scores, seed=seed),
        "systems": [
            {"pk": s.pk, "name": s.name, "mean": s.mean, "low": s.low, "high": s.high}
            for s in inputs.systems
        ],
        "labels": {metric.slug: _label(metric) for metric in inputs.metrics},
        "n_judged": int((~np.isnan(human)).any(axis=0).sum()),
        "n_instances": task.n_instances,
        "n_simulated_left_out": inputs.n_simulated_left_out,
    }


def _label(metric: BoardMetric) -> dict[str, Any]:
    return {
        "label": metric.label,
        "higher_is_better": metric.higher_is_better,
        "outside": metric.outside_pk,
        "owner": metric.owner,
    }


def _human(task: Task, inputs: BoardInputs) -> tuple[Floats, EachRating | None]:
    # Missing ratings are NaN, not 0, and are left out of every mean and pair.
    table = np.full((len(inputs.systems), task.n_instances), np.nan)
    row_of = {system.pk: row for row, system in enumerate(inputs.systems)}
    evaluations = sorted(
        launched_evaluations(row_of), key=lambda one: (one.pk, one.system)
    )
    ratings = dated_ratings_of({evaluation.pk for evaluation in evaluations})
    ratings = ratings[ratings["criterion"] == inputs.criterion]
    of = dict(iter(ratings.groupby(["evaluation", "submission"])))
    each: list[pd.DataFrame] = []
    for evaluation in evaluations:
        unit = _unit(evaluation, inputs.criterion)
        system = evaluation.submission.pk
        if (rated := of.get((evaluation.pk, system))) is None:
            continue
        values = unit.to_averaged(rated["value"].to_numpy(float))
        row = row_of[system]
        rated = rated.assign(value=values, row=row)
        means = rated.groupby("instance")["value"].mean()
        table[row, means.index.to_numpy(int)] = means.to_numpy(float)
        each.append(rated)
    return table, _each(each) if each else None


def _each(parts: list[pd.DataFrame]) -> EachRating:
    import pandas as pd

    ratings = pd.concat(parts)
    return EachRating(
        ratings["value"].to_numpy(dtype=np.float64),
        ratings["worker"].to_numpy(),
        ratings["row"].to_numpy(dtype=np.int64),
        ratings["instance"].to_numpy(dtype=np.int64),
    )


def _unit(evaluation: HumanEvaluation, criterion: str) -> Unit:
    campaigns = campaigns_of(evaluation)
    asking = [c for c in campaigns if criterion in c.hit_type.criteria]
    return unit_for(evaluation.design, (asking or campaigns)[0], criterion)


def _scores(
    task: Task, metric: BoardMetric, systems: list[BoardSystem]
) -> MetricScores:
    model = MetricResult if metric.outside_pk is None else OutsideScores
    numbers = {
        submission: (value, each)
        for submission, value, each in model.objects.filter(
            pk__in=list(metric.rows.values())
        ).values_list("submission_id", "value", "per_instance")
    }
    sign = 1.0 if metric.higher_is_better else -1.0
    overall = np.full(len(systems), np.nan)
    table = np.full((len(systems), task.n_instances), np.nan)
    by_instance = True
    for row, system in enumerate(systems):
        if system.pk not in numbers:
            continue
        value, each = numbers[system.pk]
        overall[row] = sign * value
        if len(each) == task.n_instances:
            table[row] = sign * np.asarray(each, dtype=np.float64)
        else:
            by_instance = False
    return MetricScores(metric.slug, overall, table if by_instance else None)


# Outside metrics: upload with problems by line number, publication and withdrawal.

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
    parsed = _read(task, file, file_name)
    with transaction.atomic():
        # The lock makes simultaneous uploads count one after the other.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        _refuse_over_quota(task, owner)
        same_name = OutsideMetric.objects.filter(task=task, owner=owner, name=name)
        if same_name.filter(withdrawn_at=None).exists():
            raise GenieError(
                f"You already have a metric {name} on this task. Withdraw it first, "
                "or choose a different name.",
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


def _read(task: Task, file: BinaryIO, file_name: str) -> ScoreFile:
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    # Reading one file may need the memory of several web processes.
    with one_at_a_time("metric-scores") as free:
        if not free:
            raise GenieError(
                "A different file of scores is being read. Try again in a few seconds.",
                code="throttled",
                details={"next_at": (timezone.now() + _WAIT).isoformat()},
            )
        try:
            parsed = call_bounded(
                read_scores,
                file,
                LIMITS,
                with_packages=True,
                filename=file_name,
                systems=systems_of(task),
                instance_ids=list(ids),
                max_bytes=settings.GENIE["MAX_UPLOAD_BYTES"],
            )
        except LimitExceeded:
            raise GenieError(
                "Reading this file takes too much time or memory. Upload only one "
                "score for each output.",
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
        f"You have uploaded {len(times)} of the {QUOTA} score files allowed for this "
        f"task in {QUOTA_DAYS} days. You can upload the next one on "
        f"{next_at:%Y-%m-%d at %H:%M} UTC.",
        code="quota-reached",
        details={"used": len(times), "limit": QUOTA, "next_at": next_at.isoformat()},
    )
