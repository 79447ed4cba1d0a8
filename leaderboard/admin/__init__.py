"""Staff's view: what waits, what it would cost, what was decided."""

from __future__ import annotations

from leaderboard.admin import failed_jobs
from leaderboard.admin.asked import (
    ComparisonAdmin,
    HumanEvaluationAdmin,
    JointEvaluationAdmin,
)
from leaderboard.admin.metric_runs import (
    MetricBoardAdmin,
    MetricRunAdmin,
    OutsideMetricAdmin,
)
from leaderboard.admin.people import GroupAdmin, UserAdmin
from leaderboard.admin.results import MetricResultAdmin, ScoreAdmin
from leaderboard.admin.submission import SubmissionAdmin
from leaderboard.admin.task import TaskAdmin
from leaderboard.admin.team import TeamAdmin
from leaderboard.admin.webhooks import WebhookDeliveryAdmin

__all__ = [
    "ComparisonAdmin",
    "GroupAdmin",
    "HumanEvaluationAdmin",
    "JointEvaluationAdmin",
    "MetricBoardAdmin",
    "MetricResultAdmin",
    "MetricRunAdmin",
    "OutsideMetricAdmin",
    "ScoreAdmin",
    "SubmissionAdmin",
    "TaskAdmin",
    "TeamAdmin",
    "UserAdmin",
    "WebhookDeliveryAdmin",
    "failed_jobs",
]
