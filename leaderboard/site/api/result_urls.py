"""Addresses of results row by row, of team actions, and of staff."""

from typing import Any

from django.db.models import F, QuerySet
from django.urls import path
from rest_framework import serializers

from genie.lib.errors import GenieError
from leaderboard.api.base import ListView, operation
from leaderboard.api.pagination import ByPosition
from leaderboard.api.query import CursorQuery
from leaderboard.boards.api import crowds, evidence, open_data, submitting
from leaderboard.boards.api.open_data import SubmissionView, is_open
from leaderboard.evaluation.api import staff
from leaderboard.judges import api as judges
from leaderboard.papers.task_figures import api as published
from leaderboard.site.api import public_log
from leaderboard.studio.api import (
    BundleDetail,
    BundleList,
    ImportDetail,
    ImportList,
    TaskConfiguration,
)
from leaderboard.submissions.models import Prediction
from leaderboard.submissions.selectors import outputs_are_open
from leaderboard.table_stats.rank_audit import api as rank_audit
from leaderboard.teams.api import (
    DeliveryList,
    TeamDetail,
    TeamList,
    WebhookDetail,
    WebhookList,
    WhoAmI,
)


# A system's outputs, instance by instance.
class OutputSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(
        source="instance.instance_id",
        help_text="Of the instance: /tasks/{slug}/instances/ has its input and "
        "references.",
    )
    position = serializers.IntegerField(help_text="Of the instance in the task.")
    text = serializers.CharField()


@operation(
    "List a submission's outputs, in the order of the task",
    "Open to all once the result is published, and to the team before. Test questions are "
    "made from outputs, so others get them afterwards only.",
    "not-published",
)
class SubmissionOutputs(SubmissionView, ListView):
    serializer_class = OutputSerializer
    query_class = CursorQuery
    pagination_class = ByPosition

    def get_queryset(self) -> QuerySet[Prediction]:
        submission, view = self.submission()
        if not (
            view.inner or (is_open(submission, view) and outputs_are_open(submission))
        ):
            raise GenieError(
                "Outputs become available once the result is published.",
                code="not-published",
            )
        rows = submission.predictions.select_related("instance").only(
            # no other fields of the instance are read: references may be hidden
            *("text", "submission_id", "instance__instance_id")
        )
        return rows.annotate(position=F("instance__position"))


urlpatterns = [
    path(
        "tasks/<slug:slug>/evidence/",
        evidence.TaskEvidence.as_view(),
        name="evidence",
    ),
    path("tasks/<slug:slug>/crowds/", crowds.TaskCrowds.as_view(), name="crowds"),
    path(
        "tasks/<slug:slug>/published/",
        published.TaskPublished.as_view(),
        name="published",
    ),
    path("tasks/<slug:slug>/scores/", open_data.ScoreList.as_view(), name="score-list"),
    path(
        "tasks/<slug:slug>/metric-results/",
        open_data.MetricResultList.as_view(),
        name="metric-result-list",
    ),
    path(
        "submissions/validate/",
        submitting.SubmissionCheck.as_view(),
        name="submission-validate",
    ),
    path(
        "submissions/<int:pk>/withdraw/",
        submitting.SubmissionWithdrawal.as_view(),
        name="submission-withdraw",
    ),
    path(
        "submissions/<int:pk>/restore/",
        submitting.SubmissionRestoration.as_view(),
        name="submission-restore",
    ),
    path(
        "submissions/<int:pk>/metric-results/",
        open_data.SubmissionMetricResults.as_view(),
        name="submission-metric-results",
    ),
    path(
        "submissions/<int:pk>/judgments/",
        open_data.SubmissionJudgments.as_view(),
        name="submission-judgments",
    ),
    path(
        "submissions/<int:pk>/outputs/",
        SubmissionOutputs.as_view(),
        name="submission-outputs",
    ),
    path("judge-runs/", judges.JudgeRunList.as_view(), name="judge-run-list"),
    path(
        "judge-runs/<int:pk>/",
        judges.JudgeRunDetail.as_view(),
        name="judge-run-detail",
    ),
    path(
        "judge-runs/<int:pk>/licences/",
        judges.JudgeRunLicences.as_view(),
        name="judge-run-licences",
    ),
    path(
        "judge-runs/<int:pk>/decision/",
        judges.JudgeRunDecision.as_view(),
        name="judge-run-decision",
    ),
    path("teams/", TeamList.as_view(), name="team-list"),
    path("teams/<slug:slug>/", TeamDetail.as_view(), name="team-detail"),
    path(
        "teams/<slug:slug>/webhooks/",
        WebhookList.as_view(),
        name="webhook-list",
    ),
    path(
        "teams/<slug:slug>/webhooks/<int:pk>/",
        WebhookDetail.as_view(),
        name="webhook-detail",
    ),
    path(
        "teams/<slug:slug>/webhooks/<int:pk>/deliveries/",
        DeliveryList.as_view(),
        name="webhook-deliveries",
    ),
    path("whoami/", WhoAmI.as_view(), name="whoami"),
    path("campaigns/", staff.CampaignList.as_view(), name="campaign-list"),
    path("campaigns/<int:pk>/", staff.CampaignDetail.as_view(), name="campaign-detail"),
    path("workers/", staff.WorkerList.as_view(), name="worker-list"),
    path("bundles/", BundleList.as_view(), name="bundle-list"),
    path("bundles/<slug:slug>/", BundleDetail.as_view(), name="bundle-detail"),
    path("imports/", ImportList.as_view(), name="import-list"),
    path("imports/<int:pk>/", ImportDetail.as_view(), name="import-detail"),
    path(
        "tasks/<slug:slug>/configuration/",
        TaskConfiguration.as_view(),
        name="configuration",
    ),
    path("history/", public_log.LogState.as_view(), name="log"),
    path("history/entries/", public_log.LogEntries.as_view(), name="log-entries"),
    path(
        "history/entries/<int:number>/",
        public_log.LogEntryDetail.as_view(),
        name="log-entry",
    ),
    path("rank-audit/", rank_audit.RankAudit.as_view(), name="rank-audit"),
    path("bans/", staff.BanList.as_view(), name="ban-list"),
]
