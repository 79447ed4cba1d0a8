"""End campaigns: nobody can answer any more, the account is settled, all at once."""

from collections.abc import Collection, Iterable

from django.db.models import Q

from crowd.campaigns.services import run
from crowd.elsewhere.models.external import is_unvouched
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.hits.selectors.progress import (
    COUNTED,
    CampaignProgress,
    campaign_progress,
    is_done,
)
from crowd.money.services import budgets
from quality.bans.selectors.held import waits_for_decision

State = Campaign.State


def close(campaigns: Iterable[Campaign]) -> list[CampaignProgress] | None:
    """Complete campaigns that are over and settle their accounts.

    None, and nothing changed, while one of them still waits for somebody, or for a
    person to decide whether workers are excluded. Callers open the transaction; with a
    submission's row they lock that first.
    """
    # Whoever sends work out again after a ban locks these rows, too: what was done a
    # moment ago may be undone since.
    locked = list(
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .filter(pk__in=[campaign.pk for campaign in campaigns])
        .order_by("pk")
    )
    if not can_close(locked):
        return None
    progress = []
    for campaign in locked:
        run.complete(campaign.pk)
        progress.append(campaign_progress(campaign))
        budgets.settle(campaign.key, progress[-1].spent_cents)
    return progress


def can_close(campaigns: Collection[Campaign]) -> bool:
    """Tell whether all are over, and nobody has to decide first who counts."""
    return all(is_over(campaign) for campaign in campaigns) and not waits(campaigns)


def waits(campaigns: Iterable[Campaign]) -> bool:
    """Tell whether a person must decide first who counts: no result stands till then."""
    pools = {(campaign.pool, campaign.simulated) for campaign in campaigns}
    return any(
        waits_for_decision(pool, simulated=simulated) for pool, simulated in pools
    )


def is_over(campaign: Campaign) -> bool:
    """Tell whether no answer can come in any more.

    People may send in the pages that they had open when staff stopped the campaign. Work
    of visits that the platform has not vouched for waits for its answer.
    """
    if campaign.state == State.STOPPED:
        return not Assignment.objects.filter(
            Q(state=Assignment.State.ACCEPTED)
            | Q(is_unvouched("pk"), state__in=COUNTED),
            hit__campaign=campaign,
        ).exists()
    return campaign.state == State.COMPLETE or (
        campaign.state == State.RUNNING and is_done(campaign)
    )


def asks_again() -> Q:
    """Select campaigns that ask, or were stopped at that and are not settled yet."""
    return Q(state=State.RUNNING) | Q(state=State.STOPPED, completed_at=None)


def stopped(campaigns: Iterable[Campaign]) -> list[Campaign]:
    """Give those of the campaigns that staff stopped, as they are now."""
    pks = [campaign.pk for campaign in campaigns]
    return list(Campaign.objects.filter(pk__in=pks, state=State.STOPPED))
