"""Links between campaigns and the evaluations that they serve."""

from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html_join

from crowd.hits.selectors import state_words
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.campaigns import campaigns_of, evaluations_about
from leaderboard.submissions.models import Submission


def links_to_campaigns(evaluation: HumanEvaluation | None) -> str:
    if evaluation is None or not campaigns_of(evaluation):
        return "–"
    return format_html_join(
        "",
        '<div><a href="{}">{}</a> · {}</div>',
        (
            (
                reverse("admin:crowd_campaign_change", args=[campaign.pk]),
                campaign.title,
                state_words(campaign),
            )
            for campaign in campaigns_of(evaluation)
        ),
    )


def links_to_others(submission: Submission) -> str:
    rows = [row for row in evaluations_about(submission) if row.subject != submission]
    if not rows:
        return "–"
    return format_html_join(
        "",
        '<div><a href="{}">{}</a> · {}</div>',
        ((page_of(row.subject), row.subject, row.get_state_display()) for row in rows),
    )


def page_of(row: Model) -> str:
    name = f"{row._meta.app_label}_{row._meta.model_name}"
    return reverse(f"admin:{name}_change", args=[row.pk])
