"""Outputs of other systems as test questions, shown to each worker only once.

If exposure is counted by campaign, a worker may rate an input once for each system. So
workers who met an input in a system's campaigns never get a question made of that
system's output, and the other way round.
"""

from collections import defaultdict

from django.db.models import Q

from crowd.hits.models import Campaign
from crowd.hits.services import inputs
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
)
from quality.test_questions.models import Placement


def keep_apart(evaluation: HumanEvaluation, campaign: Campaign) -> None:
    """Separate a new campaign's questions, and questions made of its outputs."""
    if campaign.input_scope == campaign.pool:
        return
    own = list(evaluation.systems.values_list("submission", flat=True))
    placed = Placement.objects.filter(campaign__pool=campaign.pool).filter(
        Q(campaign=campaign) | Q(made_from__submission__in=own)
    )
    rows = [
        row
        for row in placed.select_related("campaign", "item")
        if row.made_from.get("submission")
    ]
    campaigns_of = _campaigns_of({row.made_from["submission"] for row in rows})
    others_of: dict[Campaign, dict[int, set[int]]] = defaultdict(dict)
    for row in rows:
        others = campaigns_of[row.made_from["submission"]]
        if row.campaign_id not in others:
            others_of[row.campaign].setdefault(row.item.hit_id, set()).update(others)
    for asking, of_hit in others_of.items():
        inputs.keep_apart(asking, of_hit)


def _campaigns_of(submissions: set[int]) -> dict[int, set[int]]:
    rows = EvaluationCampaign.objects.filter(
        evaluation__systems__submission__in=submissions
    ).values_list("evaluation__systems__submission", "campaign")
    found: dict[int, set[int]] = defaultdict(set)
    for submission, campaign in rows:
        found[submission].add(campaign)
    return found
