from dataclasses import dataclass

from django.conf import settings

from crowd import hit_templates
from crowd.hits.models import HIT, Assignment, Campaign
from crowd.hits.selectors import campaign_progress, unit_cents
from crowd.hits.services.platforms import can
from crowd.money.selectors.fair_pay import ENOUGH_TIMES
from crowd.pricing import dollars, fee_per_assignment, hourly_cents, pay_problem
from genie.lib.errors import GenieError

State = Campaign.State


@dataclass(frozen=True)
class NewReward:
    """The effect of a new reward, in cents.

    `n_places` are the assignments not taken yet; all others keep their reward. Their
    maximal cost includes the platform's fee. `added_cents` is missing from the
    campaign's budget. `hourly_cents` is at the median time, or at the expected one
    until enough are timed.
    """

    reward_cents: int
    fee_cents: int
    n_places: int
    before_cents: int
    after_cents: int
    added_cents: int
    hourly_cents: int


def price_reward(campaign: Campaign, reward_cents: int) -> NewReward:
    """Return the cost of a different reward for the assignments not taken yet.

    Raises
    ------
    GenieError
        ``campaign-over``, ``same-reward``, ``below-minimum-pay`` if an hour would pay
        less than the site's minimum, ``reward-fixed`` if the platform allows no change
        or no reduction.
    """
    _check(campaign, reward_cents)
    seconds = _seconds(campaign)
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    if problem := pay_problem(reward_cents, seconds, floor):
        raise GenieError(f"The new reward {problem}", code="below-minimum-pay")
    hits = HIT.objects.filter(campaign=campaign).order_by("position")
    n_ratings = hits.values_list("max_assignments", flat=True).first() or 1
    fee = fee_per_assignment(campaign.platform, reward_cents, max_assignments=n_ratings)
    progress = campaign_progress(campaign)
    n, unit = progress.n_waiting, reward_cents + fee
    rise = n * (unit - unit_cents(campaign))
    return NewReward(
        reward_cents=reward_cents,
        fee_cents=fee,
        n_places=n,
        before_cents=n * unit_cents(campaign),
        after_cents=n * unit,
        added_cents=max(0, progress.committed_cents + rise - campaign.budget_cents),
        hourly_cents=hourly_cents(reward_cents, seconds) or 0,
    )


def _check(campaign: Campaign, reward_cents: int) -> None:
    if campaign.state in {State.STOPPED, State.COMPLETE}:
        raise GenieError(
            "This campaign offers no more HITs; its reward cannot be changed.",
            code="campaign-over",
        )
    if reward_cents == campaign.hit_type.reward_cents:
        raise GenieError(
            f"The reward is {dollars(reward_cents)} already.", code="same-reward"
        )
    platform = can(campaign.platform)
    if not platform.external:
        return
    if not platform.changes_reward:
        raise GenieError(
            f"The reward of a campaign on {campaign.platform} cannot be changed once "
            "it is published.",
            code="reward-fixed",
        )
    # A HIT must not pay less when workers take it than when they looked at it.
    if reward_cents < campaign.hit_type.reward_cents:
        raise GenieError(
            f"On {campaign.platform} a reward can be raised, not lowered.",
            code="reward-fixed",
        )


def _seconds(campaign: Campaign) -> float:
    progress = campaign_progress(campaign)
    n = Assignment.objects.filter(hit__campaign=campaign, active_seconds__gt=0).count()
    if progress.median_active_seconds and n >= ENOUGH_TIMES:
        return progress.median_active_seconds
    return float(hit_templates.get(campaign.hit_type.template).seconds)
