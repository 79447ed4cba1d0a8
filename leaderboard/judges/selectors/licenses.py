"""Valid licenses: the newest row of each judge, task and criterion counts."""

from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.evaluation.selectors.board_ratings import standing_licences
from leaderboard.judges.models import Judge
from leaderboard.tasks.models import Task


def standing_license(judge: Judge, task: Task, criterion: str) -> JudgeLicence | None:
    rows = JudgeLicence.objects.filter(
        run__judge=judge, run__task=task, criterion=criterion
    )
    return rows.order_by("-pk").first()


def licensed_rows(task: Task) -> list[JudgeLicence]:
    return sorted(
        standing_licences(task),
        key=lambda row: (row.criterion, row.run.judge.name, row.run.judge.version),
    )
