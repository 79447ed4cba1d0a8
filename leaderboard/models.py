"""All models of the app, as Django requires; other code imports from the wings."""

from leaderboard.evaluation.models.board_fit import (
    BoardFit,
    FitPiece,
    JudgedEstimate,
    JudgeLicence,
)
from leaderboard.evaluation.models.comparison import (
    ComparedPair,
    Comparison,
    ComparisonSet,
    CountedVote,
)
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    ConfirmedOutput,
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    JointEvaluation,
    Rescoring,
    Score,
    ShownOutput,
    Subject,
)
from leaderboard.imports.models import Import, PublishedFigure
from leaderboard.judges.models import (
    Judge,
    JudgeAnswer,
    JudgeBudget,
    JudgeCall,
    JudgeCost,
    JudgeMetric,
    JudgeRun,
)
from leaderboard.metric_board.models import MetricBoard, OutsideMetric, OutsideScores
from leaderboard.metric_runs.models import MetricPiece, MetricResult, MetricRun
from leaderboard.releases.models import Release
from leaderboard.studio.models import Draft, DraftFile
from leaderboard.submissions.models import (
    IdempotencyKey,
    Prediction,
    Submission,
    SubmissionEvent,
    Team,
)
from leaderboard.tasks.models import Instance, Task, TaskFile, TaskRevision
from leaderboard.teams.models import (
    Membership,
    Notice,
    NoticePreference,
    TeamInvitation,
    Webhook,
    WebhookDelivery,
)

__all__ = [
    "AnchorItem",
    "BoardFit",
    "ComparedPair",
    "Comparison",
    "ComparisonSet",
    "ConfirmedOutput",
    "CountedVote",
    "Draft",
    "DraftFile",
    "EvaluatedSystem",
    "EvaluationCampaign",
    "FitPiece",
    "HumanEvaluation",
    "IdempotencyKey",
    "Import",
    "Instance",
    "JointEvaluation",
    "Judge",
    "JudgeAnswer",
    "JudgeBudget",
    "JudgeCall",
    "JudgeCost",
    "JudgeLicence",
    "JudgeMetric",
    "JudgeRun",
    "JudgedEstimate",
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
    "PublishedFigure",
    "Release",
    "Rescoring",
    "Score",
    "ShownOutput",
    "Subject",
    "Submission",
    "SubmissionEvent",
    "Task",
    "TaskFile",
    "TaskRevision",
    "Team",
    "TeamInvitation",
    "Webhook",
    "WebhookDelivery",
]
