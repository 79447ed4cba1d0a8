from django.urls import path, re_path

from leaderboard.boards.api import submissions, tasks
from leaderboard.boards.api.evidence import BoardHistory, DifferenceList
from leaderboard.evaluation.api import comparisons, decisions
from leaderboard.judges.api import TaskJudges
from leaderboard.metric_board.api import (
    MetricScoresDetail,
    MetricScoresList,
    MetricScoresPublish,
    TaskMetricBoard,
)
from leaderboard.site.api.nowhere import Nowhere
from leaderboard.site.api.result_urls import urlpatterns as results

app_name = "api"

# decisions of staff, and withdrawals by authors
decided = [
    path(
        "submissions/<int:pk>/decision/",
        decisions.SubmissionDecision.as_view(),
        name="submission-decision",
    ),
    path(
        "comparisons/<int:pk>/decision/",
        decisions.ComparisonDecision.as_view(),
        name="comparison-decision",
    ),
    path(
        "joint-evaluations/<int:pk>/decision/",
        decisions.JointDecision.as_view(),
        name="joint-decision",
    ),
    path(
        "comparisons/<int:pk>/withdraw/",
        comparisons.ComparisonWithdrawal.as_view(),
        name="comparison-withdraw",
    ),
    path(
        "joint-evaluations/<int:pk>/withdraw/",
        comparisons.JointWithdrawal.as_view(),
        name="joint-withdraw",
    ),
]

urlpatterns = [
    path("tasks/", tasks.TaskList.as_view(), name="task-list"),
    path("tasks/<slug:slug>/", tasks.TaskDetail.as_view(), name="task-detail"),
    path(
        "tasks/<slug:slug>/instances/",
        tasks.InstanceList.as_view(),
        name="instance-list",
    ),
    path(
        "tasks/<slug:slug>/leaderboard/",
        tasks.Leaderboard.as_view(),
        name="leaderboard",
    ),
    path("tasks/<slug:slug>/history/", BoardHistory.as_view(), name="history"),
    path(
        "tasks/<slug:slug>/differences/",
        DifferenceList.as_view(),
        name="differences",
    ),
    path(
        "tasks/<slug:slug>/metric-board/",
        TaskMetricBoard.as_view(),
        name="metric-board",
    ),
    path("tasks/<slug:slug>/judges/", TaskJudges.as_view(), name="task-judges"),
    path(
        "metric-scores/",
        MetricScoresList.as_view(),
        name="metric-scores-list",
    ),
    path(
        "metric-scores/<int:pk>/",
        MetricScoresDetail.as_view(),
        name="metric-scores-detail",
    ),
    path(
        "metric-scores/<int:pk>/publish/",
        MetricScoresPublish.as_view(),
        name="metric-scores-publish",
    ),
    path("submissions/", submissions.SubmissionList.as_view(), name="submission-list"),
    path(
        "submissions/<int:pk>/",
        submissions.SubmissionDetail.as_view(),
        name="submission-detail",
    ),
    path("comparisons/", comparisons.ComparisonList.as_view(), name="comparison-list"),
    path(
        "comparisons/all-pairs/",
        comparisons.AllPairs.as_view(),
        name="comparison-all-pairs",
    ),
    path(
        "comparisons/<int:pk>/",
        comparisons.ComparisonDetail.as_view(),
        name="comparison-detail",
    ),
    path("joint-evaluations/", comparisons.JointList.as_view(), name="joint-list"),
    path(
        "joint-evaluations/<int:pk>/",
        comparisons.JointDetail.as_view(),
        name="joint-detail",
    ),
    *decided,
    *results,
    re_path(r"", Nowhere.as_view(), name="nowhere"),
]
