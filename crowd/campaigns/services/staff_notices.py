"""Notices to staff about campaigns that are stuck, pay too little, or are not read."""

from datetime import datetime

from django.utils import timezone

from crowd.campaigns.selectors.reading_pace import faster_than_reading
from crowd.campaigns.selectors.starved import is_held_by_shares, is_starved
from crowd.campaigns.services import shares
from crowd.hits.models import Campaign
from crowd.money.selectors.fair_pay import is_underpaid

STARVED = (
    "HITs are waiting, but no recently active worker can take one: all are excluded, "
    "have seen the inputs, or do not qualify. Invite more workers or stop the "
    "campaign."
)
HELD_BY_SHARES = (
    "HITs are waiting, but the workers who would take them have done their share. "
    "Invite more workers, or lift the limit per worker."
)

# All of these together leave room for other notices: a notice that is cut could not be
# removed.
UNDERPAID = (
    "At the median pace, this work pays less than the hourly minimum: top up the pay "
    "when the campaign is over."
)
TOO_FAST = "The median answer is faster than the texts can be read: check the workers."
BAD_CROWD = (
    "Many of the workers of this task answer without care: check the test questions, "
    "then the crowd."
)
LONGEST: int = Campaign._meta.get_field("notice").max_length or 0


def is_too_fast(campaign: Campaign) -> bool:
    return TOO_FAST in campaign.notice


def tell_of_bad_crowd(pool: str, bad: bool) -> None:
    running = Campaign.objects.filter(pool=pool, state=Campaign.State.RUNNING)
    for pk, notice in running.values_list("pk", "notice"):
        if (BAD_CROWD in notice) is bad:
            continue
        others = " ".join(notice.replace(BAD_CROWD, "").split())
        new = f"{others} {BAD_CROWD}".strip() if bad else others
        Campaign.objects.filter(pk=pk, notice=notice).update(notice=new[:LONGEST])


def watch(campaign: Campaign, now: datetime | None = None) -> bool:
    """Set or clear the campaign's notices; return whether its work is stuck.

    Also computes again how much one worker may do.
    """
    now = now or timezone.now()
    shares.refresh(campaign, now)
    starved = is_starved(campaign, now)
    held = not starved and is_held_by_shares(campaign, now)
    holds = {
        # The short one first, because some pages show only the beginning.
        TOO_FAST: bool(faster_than_reading([campaign])),
        STARVED: starved,
        HELD_BY_SHARES: held,
        UNDERPAID: is_underpaid(campaign),
    }
    notice = Campaign.objects.values_list("notice", flat=True).get(pk=campaign.pk)
    others = notice
    for sentence in holds:
        others = others.replace(sentence, "")
    new_notice = " ".join([s for s, true in holds.items() if true] + others.split())
    if new_notice != notice:
        # A notice that came in between stays; the next look adds this one.
        Campaign.objects.filter(pk=campaign.pk, notice=notice).update(
            notice=new_notice[:LONGEST]
        )
    return starved or held
