"""Start, pause, resume, stop and complete a campaign: compare-and-set, each once.

Each change is one UPDATE that names the states it may start from. A process that loses
a race changes nothing and gets False.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.hits.services.platforms import can
from crowd.money.models import Commitment
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
    old = [State.SCHEDULED]
    return _move(campaign.pk, old, State.RUNNING, by, "Started.", why)


def pause(pk: int, by: AbstractBaseUser | None, why: str = "") -> bool:
    old = [State.SCHEDULED, State.RUNNING]
    return _move(pk, old, State.PAUSED, by, "Paused.", why)


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
