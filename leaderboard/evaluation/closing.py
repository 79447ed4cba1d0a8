"""End campaigns: answers are closed and the account is settled in one step."""

from collections.abc import Collection, Iterable

from django.db.models import Q

from crowd.campaigns.services import run
from crowd.elsewhere.models import is_unvouched
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import COUNTED, CampaignProgress, campaign_progress, is_done
from crowd.money.services import budgets
from quality.bans.selectors import waits_for_decision

State = Campaign.State


def close(campaigns: Iterable[Campaign]) -> list[CampaignProgress] | None:
    """Complete campaigns that are over and settle their accounts.

    Return None and change nothing while one of them waits for workers or for a decision
    on exclusions. The caller opens the transaction and, if it needs a submission's row,
    locks that first.
    """
    # Code that sends work out again after a ban locks these rows, too: finished work
    # may have been reopened a moment ago.
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
    """Check that all are over and no exclusion waits for a decision."""
    return all(is_over(campaign) for campaign in campaigns) and not waits(campaigns)


def waits(campaigns: Iterable[Campaign]) -> bool:
    """Check whether an exclusion waits for a decision, which delays every result."""
    pools = {(campaign.pool, campaign.simulated) for campaign in campaigns}
    return any(
        waits_for_decision(pool, simulated=simulated) for pool, simulated in pools
    )


def is_over(campaign: Campaign) -> bool:
    """Check that no answer can come in any more.

    Workers may send in pages that were open when staff stopped the campaign. Work of
    visits that the platform has not confirmed yet is waited for.
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
    """Select campaigns that collect, or were stopped then and are not settled yet."""
    return Q(state=State.RUNNING) | Q(state=State.STOPPED, completed_at=None)


def stopped(campaigns: Iterable[Campaign]) -> list[Campaign]:
    """Return the stopped campaigns among these, read from the database again."""
    pks = [campaign.pk for campaign in campaigns]
    return list(Campaign.objects.filter(pk__in=pks, state=State.STOPPED))
