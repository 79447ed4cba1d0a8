"""Which licences stand: of each judge, task and criterion the newest row counts."""

from __future__ import annotations

from leaderboard.judges.models import Judge, JudgeLicence
from leaderboard.tasks.models import Task


def standing(judge: Judge, task: Task, criterion: str) -> JudgeLicence | None:
    """Give what was last decided of a judge on a criterion, if anything was."""
    rows = JudgeLicence.objects.filter(
        run__judge=judge, run__task=task, criterion=criterion
    )
    return rows.order_by("-pk").first()


def licensed(task: Task) -> list[JudgeLicence]:
    """List the licences of a task that stand now, by criterion and judge."""
    newest: dict[tuple[int, str], JudgeLicence] = {}
    rows = JudgeLicence.objects.filter(run__task=task).select_related("run__judge")
    for row in rows.order_by("pk"):
        newest[row.run.judge_id, row.criterion] = row
    return sorted(
        (row for row in newest.values() if row.state == JudgeLicence.State.LICENSED),
        key=lambda row: (row.criterion, row.run.judge.name, row.run.judge.version),
    )
