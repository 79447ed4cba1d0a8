from django.urls import path, re_path

from leaderboard.boards.api import evidence, submissions, tasks
from leaderboard.boards.api.evidence import BoardHistory, DifferenceList, TaskCrowds
from leaderboard.boards.api.submissions import (
    SubmissionCheck,
    SubmissionOutputs,
    SubmissionRestoration,
    SubmissionWithdrawal,
)
from leaderboard.boards.api.tasks import (
    MetricResultList,
    ScoreList,
    SubmissionJudgments,
    SubmissionMetricResults,
)
from leaderboard.evaluation.api import comparisons, staff
from leaderboard.evaluation.api.staff import (
    ComparisonDecision,
    JointDecision,
    SubmissionDecision,
)
from leaderboard.judges import api as judges
from leaderboard.metric_board.api import (
    MetricScoresDetail,
    MetricScoresList,
    MetricScoresPublish,
    TaskMetricBoard,
)
from leaderboard.papers.task_figures import api as published
from leaderboard.site.api import public_log
from leaderboard.site.api.nowhere import Nowhere
from leaderboard.studio.api import (
    BundleDetail,
    BundleList,
    ImportDetail,
    ImportList,
    TaskConfiguration,
)
from leaderboard.table_stats.rank_audit import api as rank_audit
from leaderboard.teams.api import (
    DeliveryList,
    TeamDetail,
    TeamList,
    WebhookDetail,
    WebhookList,
    WhoAmI,
)

app_name = "api"

# address, view, name; the first that fits is used
_ROUTES = [
    ("tasks/", tasks.TaskList, "task-list"),
    ("tasks/<slug:slug>/", tasks.TaskDetail, "task-detail"),
    ("tasks/<slug:slug>/instances/", tasks.InstanceList, "instance-list"),
    ("tasks/<slug:slug>/leaderboard/", tasks.Leaderboard, "leaderboard"),
    ("tasks/<slug:slug>/history/", BoardHistory, "history"),
    ("tasks/<slug:slug>/differences/", DifferenceList, "differences"),
    ("tasks/<slug:slug>/metric-board/", TaskMetricBoard, "metric-board"),
    ("tasks/<slug:slug>/judges/", judges.TaskJudges, "task-judges"),
    ("metric-scores/", MetricScoresList, "metric-scores-list"),
    ("metric-scores/<int:pk>/", MetricScoresDetail, "metric-scores-detail"),
    ("metric-scores/<int:pk>/publish/", MetricScoresPublish, "metric-scores-publish"),
    ("submissions/", submissions.SubmissionList, "submission-list"),
    ("submissions/<int:pk>/", submissions.SubmissionDetail, "submission-detail"),
    ("comparisons/", comparisons.ComparisonList, "comparison-list"),
    ("comparisons/all-pairs/", comparisons.AllPairs, "comparison-all-pairs"),
    ("comparisons/<int:pk>/", comparisons.ComparisonDetail, "comparison-detail"),
    ("joint-evaluations/", comparisons.JointList, "joint-list"),
    ("joint-evaluations/<int:pk>/", comparisons.JointDetail, "joint-detail"),
    ("submissions/<int:pk>/decision/", SubmissionDecision, "submission-decision"),
    ("comparisons/<int:pk>/decision/", ComparisonDecision, "comparison-decision"),
    ("joint-evaluations/<int:pk>/decision/", JointDecision, "joint-decision"),
    (
        "comparisons/<int:pk>/withdraw/",
        comparisons.ComparisonWithdrawal,
        "comparison-withdraw",
    ),
    (
        "joint-evaluations/<int:pk>/withdraw/",
        comparisons.JointWithdrawal,
        "joint-withdraw",
    ),
    ("tasks/<slug:slug>/evidence/", evidence.TaskEvidence, "evidence"),
    ("tasks/<slug:slug>/crowds/", TaskCrowds, "crowds"),
    ("tasks/<slug:slug>/published/", published.TaskPublished, "published"),
    ("tasks/<slug:slug>/scores/", ScoreList, "score-list"),
    ("tasks/<slug:slug>/metric-results/", MetricResultList, "metric-result-list"),
    ("submissions/validate/", SubmissionCheck, "submission-validate"),
    ("submissions/<int:pk>/withdraw/", SubmissionWithdrawal, "submission-withdraw"),
    ("submissions/<int:pk>/restore/", SubmissionRestoration, "submission-restore"),
    (
        "submissions/<int:pk>/metric-results/",
        SubmissionMetricResults,
        "submission-metric-results",
    ),
    ("submissions/<int:pk>/judgments/", SubmissionJudgments, "submission-judgments"),
    ("submissions/<int:pk>/outputs/", SubmissionOutputs, "submission-outputs"),
    ("judge-runs/", judges.JudgeRunList, "judge-run-list"),
    ("judge-runs/<int:pk>/", judges.JudgeRunDetail, "judge-run-detail"),
    ("judge-runs/<int:pk>/licences/", judges.JudgeRunLicences, "judge-run-licences"),
    ("judge-runs/<int:pk>/decision/", judges.JudgeRunDecision, "judge-run-decision"),
    ("teams/", TeamList, "team-list"),
    ("teams/<slug:slug>/", TeamDetail, "team-detail"),
    ("teams/<slug:slug>/webhooks/", WebhookList, "webhook-list"),
    ("teams/<slug:slug>/webhooks/<int:pk>/", WebhookDetail, "webhook-detail"),
    (
        "teams/<slug:slug>/webhooks/<int:pk>/deliveries/",
        DeliveryList,
        "webhook-deliveries",
    ),
    ("whoami/", WhoAmI, "whoami"),
    ("campaigns/", staff.CampaignList, "campaign-list"),
    ("campaigns/<int:pk>/", staff.CampaignDetail, "campaign-detail"),
    ("workers/", staff.WorkerList, "worker-list"),
    ("bundles/", BundleList, "bundle-list"),
    ("bundles/<slug:slug>/", BundleDetail, "bundle-detail"),
    ("imports/", ImportList, "import-list"),
    ("imports/<int:pk>/", ImportDetail, "import-detail"),
    ("tasks/<slug:slug>/configuration/", TaskConfiguration, "configuration"),
    ("history/", public_log.LogState, "log"),
    ("history/entries/", public_log.LogEntries, "log-entries"),
    ("history/entries/<int:number>/", public_log.LogEntryDetail, "log-entry"),
    ("rank-audit/", rank_audit.RankAudit, "rank-audit"),
    ("bans/", staff.BanList, "ban-list"),
]
urlpatterns = [
    *(path(route, view.as_view(), name=name) for route, view, name in _ROUTES),
    re_path(r"", Nowhere.as_view(), name="nowhere"),
]
