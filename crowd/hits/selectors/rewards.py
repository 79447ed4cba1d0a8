"""What an assignment of a HIT pays, and what a HIT type is called elsewhere.

A campaign's reward can be changed while it runs. Here, whoever takes a HIT after that
gets the new one. Elsewhere a HIT pays what its type there says: `HIT.posted_as` names
it where that is not the campaign's type.
"""

from dataclasses import dataclass

from crowd.hits.models.campaign import HIT, Campaign, RewardChange


@dataclass(frozen=True)
class Terms:
    """What an assignment pays, and what the platform takes for it, in cents."""

    reward_cents: int
    fee_cents: int


def terms_of(hit: HIT, campaign: Campaign) -> Terms:
    """Give the terms of a HIT's assignments."""
    now = Terms(campaign.hit_type.reward_cents, campaign.fee_cents)
    if hit.posted_as_id is None or hit.posted_as_id == campaign.hit_type_id:
        return now
    change = (
        RewardChange.objects.filter(campaign=campaign, old=hit.posted_as_id)
        .select_related("old")
        .last()
    )
    return Terms(change.old.reward_cents, change.old_fee_cents) if change else now


def offer_name(campaign: Campaign, hit_type_pk: int) -> str:
    """Name the offer of a campaign's HIT type elsewhere; the first has its number alone."""
    first = RewardChange.objects.filter(campaign=campaign).first()
    if first is None or first.old_id == hit_type_pk:
        return str(campaign.pk)
    return f"{campaign.pk}.{hit_type_pk}"
