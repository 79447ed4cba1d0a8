"""Rewards of a HIT's assignments, and the names of HIT types on platforms.

A campaign's reward can change while it runs. Here, workers who take a HIT later get the
new one. On a platform, a HIT pays the reward of its type there: `HIT.posted_as` stores
it if that is not the campaign's type.
"""

from dataclasses import dataclass

from crowd.hits.models.campaign import HIT, Campaign, RewardChange


@dataclass(frozen=True)
class Terms:
    reward_cents: int
    fee_cents: int


def terms_of(hit: HIT, campaign: Campaign) -> Terms:
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
    first = RewardChange.objects.filter(campaign=campaign).first()
    if first is None or first.old_id == hit_type_pk:
        return str(campaign.pk)
    return f"{campaign.pk}.{hit_type_pk}"
