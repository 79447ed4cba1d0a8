"""The end of a run: its scores go on the metric board of its task, and nowhere else."""

from django.db import transaction
from django.utils import timezone

from leaderboard.judges.models import JudgeMetric, JudgeRun
from leaderboard.judges.selectors.scores import averaged, scores_of
from leaderboard.metric_board.models.outside import JUDGED, OutsideMetric, OutsideScores
from leaderboard.metric_board.services import outside

_NAME = 60


def finish(run: JudgeRun) -> bool:
    running = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.RUNNING)
    with transaction.atomic():
        ended = running.update(
            state=JudgeRun.State.DONE, finished_at=timezone.now(), failure=""
        )
        if ended:
            for criterion in run.plan["criteria"]:
                _put_on_board(run, criterion)
    return bool(ended)


def _put_on_board(run: JudgeRun, criterion: str) -> None:
    scores = scores_of(run, criterion)
    owner = run.decided_by or run.asked_by
    # a command's run has no account: it is read from its own pages
    if owner is None or not scores:
        return
    older = JudgeMetric.objects.filter(
        run__judge=run.judge, run__task=run.task, criterion=criterion
    )
    on_board = older.filter(metric__withdrawn_at=None, run__n_calls__gt=run.n_calls)
    # repeated questions, asked to see whether answers have changed, replace nothing
    if run.occasion and on_board.exists():
        return
    for row in older.select_related("metric"):
        outside.withdraw(row.metric)
    kind = "script" if run.judge.scripted else "judge"
    whole = _whole(run, scores)
    metric = OutsideMetric.objects.create(
        task=run.task,
        owner=owner,
        name=f"{kind}: {run.judge} ({criterion})"[:_NAME],
        description=f"Answers of {run.judge.what}, not of people. {run.judge.signature}",
        file_name=f"run {run.pk}",
        file_sha256=run.judge.sha256,
        file_format=JUDGED,
        by_instance=whole,
    )
    OutsideScores.objects.bulk_create(
        OutsideScores(
            metric=metric,
            submission_id=submission,
            value=averaged(run, by_instance.values()),
            per_instance=_row(run, by_instance) if whole else [],
        )
        for submission, by_instance in sorted(scores.items())
    )
    JudgeMetric.objects.create(run=run, criterion=criterion, metric=metric)
    outside.publish(metric)


def _whole(run: JudgeRun, scores: dict[int, dict[int, float]]) -> bool:
    sample = run.task.instances.filter(sample_rank__lt=run.task.sample_size)
    judged = set(sample.values_list("position", flat=True))
    return all(judged <= set(by_instance) for by_instance in scores.values())


def _row(run: JudgeRun, by_instance: dict[int, float]) -> list[float | None]:
    return [by_instance.get(position) for position in range(run.task.n_instances)]
