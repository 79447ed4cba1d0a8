from leaderboard.evaluation.admin.results import ScoreAdmin
from leaderboard.evaluation.admin.several_systems import (
    ComparisonAdmin,
    HumanEvaluationAdmin,
    JointEvaluationAdmin,
)
from leaderboard.evaluation.admin.submission import SubmissionAdmin
from leaderboard.imports.admin import ImportAdmin
from leaderboard.judges.admin import (
    JudgeAdmin,
    JudgeBudgetAdmin,
    JudgeCallAdmin,
    JudgeCostAdmin,
    JudgeRunAdmin,
)
from leaderboard.metric_board.admin import (
    MetricBoardAdmin,
    MetricResultAdmin,
    MetricRunAdmin,
    OutsideMetricAdmin,
)
from leaderboard.releases.admin import ReleaseAdmin, TaskAdmin
from leaderboard.site import admin as failed_jobs
from leaderboard.teams.admin import (
    GroupAdmin,
    TaskRoleAdmin,
    TeamAdmin,
    UserAdmin,
    WebhookDeliveryAdmin,
)

__all__ = [
    "ComparisonAdmin",
    "GroupAdmin",
    "HumanEvaluationAdmin",
    "ImportAdmin",
    "JointEvaluationAdmin",
    "JudgeAdmin",
    "JudgeBudgetAdmin",
    "JudgeCallAdmin",
    "JudgeCostAdmin",
    "JudgeRunAdmin",
    "MetricBoardAdmin",
    "MetricResultAdmin",
    "MetricRunAdmin",
    "OutsideMetricAdmin",
    "ReleaseAdmin",
    "ScoreAdmin",
    "SubmissionAdmin",
    "TaskAdmin",
    "TaskRoleAdmin",
    "TeamAdmin",
    "UserAdmin",
    "WebhookDeliveryAdmin",
    "failed_jobs",
]
