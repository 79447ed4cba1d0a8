"""From what staff asked about to the campaigns that ask."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html_join

from leaderboard.models import HumanEvaluation
from leaderboard.selectors.campaigns import campaigns_of


def links_to_campaigns(evaluation: HumanEvaluation | None) -> str:
    """Link to the campaigns of an evaluation, one a line."""
    if evaluation is None:
        return "–"
    return format_html_join(
        "",
        '<div><a href="{}">{}</a> · {}</div>',
        (
            (
                reverse("admin:crowd_campaign_change", args=[campaign.pk]),
                campaign.title,
                campaign.get_state_display(),
            )
            for campaign in campaigns_of(evaluation)
        ),
    )
