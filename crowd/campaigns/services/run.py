"""Start, pause, resume, stop and complete a campaign: compare-and-set, each once.

Each change is one UPDATE that names the states it may start from. A process that loses
a race changes nothing and gets False.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from crowd.campaigns.selectors.reading_pace import faster_than_reading, measured_times
from crowd.campaigns.selectors.starved import is_held_by_shares, is_starved, n_able
from crowd.campaigns.services import reissue
from crowd.elsewhere.models import ExternalCampaign
from crowd.hits.models import ELSEWHERE, HIT, Assignment, Campaign
from crowd.hits.selectors import unit_cents
from crowd.hits.services.build import free_slot
from crowd.hits.services.platforms import can
from crowd.money.models import Commitment
from crowd.money.selectors.fair_pay import is_underpaid
from crowd.money.services import budgets
from crowd.workers.models.worker import Worker
from genie.lib import jobs
from genie.lib.admin import note

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


State = Campaign.State
HERE = "selfhosted"
_DECIDED = {
    True: "The results so far are published as partial.",
    False: "The results so far are not published.",
}


def start_due(now: datetime | None = None) -> int:
    return Campaign.objects.filter(
        state=State.SCHEDULED, starts_at__lte=now or timezone.now()
    ).update(state=State.RUNNING)


def start(
    campaign: Campaign, by: AbstractBaseUser | None = None, why: str = ""
) -> bool:
    """Start a campaign now, whatever its start time."""
    return _move(campaign.pk, [State.SCHEDULED], State.RUNNING, by, "Started.", why)


def pause(pk: int, by: AbstractBaseUser | None, why: str = "") -> bool:
    return _move(pk, [State.SCHEDULED, State.RUNNING], State.PAUSED, by, "Paused.", why)


def resume(pk: int, by: AbstractBaseUser | None, why: str = "") -> bool:
    """Continue after a pause; a campaign with a later start time waits for it.

    A stopped campaign of this site continues, too, while its money is still set aside.
    """
    unsettled = Commitment.objects.filter(settled_at=None).values("key")
    stopped = Campaign.objects.filter(
        pk=pk, state=State.STOPPED, platform=HERE, key__in=unsettled
    )
    with transaction.atomic():
        old, fields = [State.PAUSED], {}
        # Code that ends it for good waits for this row, or has closed its account.
        if stopped.select_for_update(of=("self",)).exists():
            old, fields = [State.STOPPED], {"notice": "", "publish_partial": None}
        # Via "scheduled", which checks the start time as at any start.
        if not _move(pk, old, State.SCHEDULED, by, "Resumed.", why, **fields):
            return False
        Campaign.objects.filter(
            pk=pk, state=State.SCHEDULED, starts_at__lte=timezone.now()
        ).update(state=State.RUNNING)
    return True


def stop(
    pk: int, by: AbstractBaseUser | None, reason: str, *, publish: bool | None = None
) -> bool:
    """End a campaign for good; workers may still submit what they have open.

    `publish` is the person's decision whether to publish a result from the present
    answers, or None if they were not asked. Only True publishes one.
    """
    why = reason.strip()
    sentence = f"Stopped: {why}" if why else "Stopped."
    ended = sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
    return _move(
        pk,
        [State.SCHEDULED, State.RUNNING, State.PAUSED],
        State.STOPPED,
        by,
        sentence if publish is None else f"{ended} {_DECIDED[publish]}",
        notice=sentence[:300],
        publish_partial=publish,
    )


def complete(pk: int) -> bool:
    now = timezone.now()
    done = _move(
        pk, [State.RUNNING, State.PAUSED], State.COMPLETE, None, "", completed_at=now
    )
    # A stopped campaign keeps its state, but its last work has ended now, too.
    Campaign.objects.filter(
        pk=pk, state=State.STOPPED, completed_at__isnull=True
    ).update(completed_at=now)
    return done


def _move(
    pk: int,
    old: list[Campaign.State],
    new: Campaign.State,
    by: AbstractBaseUser | None,
    sentence: str,
    why: str = "",
    **fields: Any,
) -> bool:
    with transaction.atomic():
        moved = Campaign.objects.filter(pk=pk, state__in=old, completed_at=None).update(
            state=new, **fields
        )
        if moved:
            # In the same transaction, so a campaign never ends here and continues
            # there.
            tell_platform(pk)
        if moved and by is not None:
            note(by, Campaign.objects.get(pk=pk), sentence, why)
    return bool(moved)


def tell_platform(pk: int) -> None:
    """Start or end the work on other platforms soon, not at the next look."""
    platform = Campaign.objects.values_list("platform", flat=True).get(pk=pk)
    if platform != HERE and can(platform).external:
        jobs.enqueue("crowd.jobs.sync_campaign", campaign=pk)


COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


@transaction.atomic
def reopen(campaign_pk: int) -> int:
    """Send the HITs of excluded workers out again; return how many places that opens.

    Places of work that was rejected after the end are opened, too, because the campaign
    could not ask again then. Only approved money that was not spent is used.

    Raises
    ------
    GenieError
        ``over-budget`` if the pool's or the site's budget has no room.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if campaign.state != Campaign.State.COMPLETE or campaign.platform == ELSEWHERE:
        return 0
    lost = Assignment.objects.filter(
        hit__campaign=campaign,
        state__in=COUNTED,
        replaced_at=None,
        worker__exclusions__pool=campaign.pool_id,
    )
    workers = list(Worker.objects.filter(assignments__in=lost).distinct())
    if not workers:
        return 0
    emptied = _n_emptied(campaign)
    if not emptied and not reissue.n_affordable(campaign):
        reissue.note_shortage(campaign, lost.count())
        return 0
    budgets.set_aside_again(
        key=campaign.key,
        pool=campaign.pool_id,
        cents=(lost.count() + sum(emptied.values())) * unit_cents(campaign),
        at_most=campaign.budget_cents,
    )
    # Running first, because answers are replaced only in a running campaign.
    Campaign.objects.filter(pk=campaign_pk).update(
        state=Campaign.State.RUNNING, completed_at=None
    )
    for pk, n in emptied.items():
        for _ in range(n):
            free_slot(pk)
    n_replaced = sum(reissue.replace_answers(w, campaign.pool_id) for w in workers)
    return n_replaced + sum(emptied.values())


def _n_emptied(campaign: Campaign) -> dict[int, int]:
    answered = Q(assignments__state__in=COUNTED) | Q(
        assignments__replaced_at__isnull=False
    )
    taken = Q(assignments__state=Assignment.State.ACCEPTED)
    rows = (
        HIT.objects.filter(campaign=campaign)
        .annotate(
            n_empty=F("max_assignments")
            - F("n_available")
            - Count("assignments", filter=answered | taken)
        )
        .filter(n_empty__gt=0)
        .order_by("pk")
    )
    return dict(rows.values_list("pk", "n_empty"))


# Limits on the share of a campaign that one worker may do.
#
# Scores must generalize to other workers, so they must not depend on a few. A worker who
# has reached their share gets no more HITs of that campaign
# (`crowd.workers.selectors.eligible`).


def limit_share(campaign: Campaign, share: float, *, follows_crowd: bool) -> None:
    """Limit each worker to this share of a campaign that was just built.

    With `follows_crowd`, a small crowd can still finish it: each of n active workers
    may do up to 2 / n, twice an equal part. On a platform's own pages, the limit has no
    effect.
    """
    if share >= 1 or can(campaign.platform).answers_there:
        return
    campaign.worker_share, campaign.share_follows_crowd = share, follows_crowd
    campaign.save(update_fields=["worker_share", "share_follows_crowd"])
    refresh_share(campaign)


def refresh_share(campaign: Campaign, now: datetime | None = None) -> None:
    """Compute again how many HITs the share is, as HITs and workers come and go."""
    planned = campaign.worker_share
    if planned is None:
        return
    share = planned
    if campaign.share_follows_crowd and campaign.platform == HERE:
        n = n_able(campaign, now or timezone.now(), enough=math.ceil(2 / planned))
        if n == 0:
            return  # No workers yet, or no HITs wait: that says nothing about the crowd.
        share = max(planned, 2 / n)
    n_hits = campaign.hits.aggregate(n=Sum("max_assignments"))["n"] or 0
    # A little less, so that .1 of 880 is 88 and not 89.
    part = math.ceil(min(share, 1) * n_hits - 1e-9)
    # A platform pays a visitor for so many HITs; fewer would be half a visit.
    place = ExternalCampaign.objects.filter(campaign=campaign).first()
    limit = max(1, part, place.place_size if place else 0)
    if limit != campaign.hits_per_worker:
        # Unless staff have lifted it meanwhile.
        Campaign.objects.filter(pk=campaign.pk, worker_share=planned).update(
            hits_per_worker=limit
        )
        campaign.hits_per_worker = limit


def lift_share(pk: int, by: AbstractBaseUser, why: str) -> bool:
    """Lift the limit of a campaign; False if there is none."""
    with transaction.atomic():
        lifted = Campaign.objects.filter(
            pk=pk, worker_share__isnull=False, state__in=_UNDER_WAY
        ).update(worker_share=None, hits_per_worker=None, share_follows_crowd=False)
        if lifted:
            note(by, Campaign.objects.get(pk=pk), "Lifted the limit per worker.", why)
    return bool(lifted)


_UNDER_WAY = (Campaign.State.SCHEDULED, Campaign.State.RUNNING, Campaign.State.PAUSED)


# Notices to staff about campaigns that are stuck, pay too little, or are not read.
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


def watch_crowd(campaign: Campaign, now: datetime | None = None) -> bool:
    """Set or clear the campaign's notices; return whether its work is stuck.

    Also computes again how much one worker may do.
    """
    now = now or timezone.now()
    refresh_share(campaign, now)
    starved = is_starved(campaign, now)
    held = not starved and is_held_by_shares(campaign, now)
    holds = {
        # The short one first, because some pages show only the beginning.
        TOO_FAST: bool(faster_than_reading([campaign], measured_times([campaign]))),
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
