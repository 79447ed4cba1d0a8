from __future__ import annotations

from leaderboard.models.comparison import (
    ComparedPair,
    Comparison,
    ComparisonSet,
    CountedVote,
)
from leaderboard.models.human_evaluation import (
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    JudgedItem,
    JudgedOutput,
    Score,
)
from leaderboard.models.joint_evaluation import JointEvaluation
from leaderboard.models.metric_board import MetricBoard
from leaderboard.models.metric_outside import OutsideMetric, OutsideScores
from leaderboard.models.metric_result import MetricResult
from leaderboard.models.metric_run import MetricPiece, MetricRun
from leaderboard.models.notice import Notice, NoticePreference
from leaderboard.models.repeated import RepeatedRequest
from leaderboard.models.submission import (
    Prediction,
    Submission,
    SubmissionEvent,
    Team,
)
from leaderboard.models.task import Instance, Task
from leaderboard.models.team import Membership, TeamInvitation
from leaderboard.models.webhook import Webhook, WebhookDelivery

__all__ = [
    "ComparedPair",
    "Comparison",
    "ComparisonSet",
    "CountedVote",
    "EvaluatedSystem",
    "EvaluationCampaign",
    "HumanEvaluation",
    "Instance",
    "JointEvaluation",
    "JudgedItem",
    "JudgedOutput",
    "Membership",
    "MetricBoard",
    "MetricPiece",
    "MetricResult",
    "MetricRun",
    "Notice",
    "NoticePreference",
    "OutsideMetric",
    "OutsideScores",
    "Prediction",
    "RepeatedRequest",
    "Score",
    "Submission",
    "SubmissionEvent",
    "Task",
    "Team",
    "TeamInvitation",
    "Webhook",
    "WebhookDelivery",
]
