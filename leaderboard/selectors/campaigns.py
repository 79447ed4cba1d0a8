"""Which campaigns serve an evaluation."""

from __future__ import annotations

from crowd.models import Campaign
from leaderboard.models import HumanEvaluation


def campaigns_of(evaluation: HumanEvaluation) -> list[Campaign]:
    """Give the evaluation's own campaign, then those of separate criteria."""
    separate = evaluation.separate_campaigns.select_related("campaign__hit_type")
    return [evaluation.campaign, *(link.campaign for link in separate)]
