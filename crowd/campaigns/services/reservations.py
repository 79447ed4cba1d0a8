"""Reserve a campaign for one worker: the first to take a HIT of it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from crowd.hits.models import Assignment, Campaign, Reservation
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import first_unseen

PASSED_ON = (
    "The worker for whom this campaign was reserved did not continue, so others may "
    "take it: its answers do not all come from one person."
)


def for_one_worker(campaign: Campaign) -> None:
    Reservation.objects.get_or_create(campaign=campaign)
    Campaign.objects.filter(pk=campaign.pk).update(
        worker_share=None, share_follows_crowd=False, hits_per_worker=None
    )


def may_take(campaign: Campaign, worker: Worker) -> bool:
    """Check whether the worker may take work of the campaign; reserve it for the first.

    Callers open the transaction; concurrent workers wait for each other here.
    """
    # Without a reservation the campaign is open to all. It is created with the
    # campaign.
    rows = Reservation.objects.filter(campaign=campaign)
    if not rows.exists():
        return True
    return bool(rows.filter(Q(worker=None) | Q(worker=worker)).update(worker=worker))


def give_up(campaign: Campaign) -> bool:
    excluded = Exclusion.objects.filter(pool=campaign.pool).values("worker")
    return bool(
        Reservation.objects.filter(
            Q(worker__in=excluded) | Q(worker__excluded=True), campaign=campaign
        ).update(worker=None)
    )


def pass_on(campaign: Campaign, now: datetime | None = None) -> bool:
    """Open the campaign to another worker if its worker will not finish; tell staff.

    That is the case if they have taken no work of it for the site's
    `RESERVATION_HOURS`, or may take none of what is left.
    """
    now = now or timezone.now()
    if campaign.state != Campaign.State.RUNNING:
        return False
    with transaction.atomic():
        reservation = (
            Reservation.objects.select_for_update(of=("self",))
            .filter(campaign=campaign, worker__isnull=False)
            .first()
        )
        if reservation is None or reservation.worker is None:
            return False
        if not _waits_in_vain(campaign, reservation.worker, now):
            return False
        reservation.worker = None
        reservation.save(update_fields=["worker"])
        _tell_staff(campaign)
    return True


def _waits_in_vain(campaign: Campaign, worker: Worker, now: datetime) -> bool:
    if not campaign.hits.filter(n_available__gt=0).exists():
        return False
    assignments = Assignment.objects.filter(worker=worker, hit__campaign=campaign)
    if assignments.filter(state=Assignment.State.ACCEPTED).exists():
        return False
    if not first_unseen(worker.pk, campaign.pk):
        return True
    times = assignments.aggregate(
        took_at=Max("accepted_at"), sent_at=Max("submitted_at")
    )
    last_work_at = max(filter(None, times.values()), default=campaign.starts_at)
    return last_work_at <= now - timedelta(hours=settings.GENIE["RESERVATION_HOURS"])


def _tell_staff(campaign: Campaign) -> None:
    notice = Campaign.objects.values_list("notice", flat=True).get(pk=campaign.pk)
    if PASSED_ON not in notice:
        Campaign.objects.filter(pk=campaign.pk).update(
            notice=f"{PASSED_ON} {notice}".strip()[:600]
        )
