from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from django.db.models import (
    Count,
    Exists,
    Max,
    OuterRef,
    Q,
    Sum,
    prefetch_related_objects,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from crowd.elsewhere.models.external import is_unvouched
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign
from crowd.money.models import LedgerEntry
from crowd.pricing import hourly_cents

State = Assignment.State
COUNTED = (State.SUBMITTED, State.APPROVED)
UNSPENT = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)


@dataclass(frozen=True)
class CampaignProgress:
    n_hits: int
    n_done: int
    n_answers: int
    n_open: int
    n_waiting: int
    spent_cents: int
    committed_cents: int
    budget_cents: int
    median_active_seconds: float | None
    hourly_cents: int | None

    @property
    def n_left(self) -> int:
        """Answers still to come; a HIT may ask for several."""
        return self.n_open + self.n_waiting

    @property
    def n_asked(self) -> int:
        return self.n_answers + self.n_left


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    return progress_of([campaign])[campaign.pk]


def progress_of(
    campaigns: Iterable[Campaign], *, whole_hits: bool = True
) -> dict[int, CampaignProgress]:
    """Return the figures of several campaigns in a constant number of queries.

    Counting finished HITs takes as long as everything else. Pages that show only
    answers pass ``whole_hits=False``, and `n_done` is 0.
    """
    campaigns = list(campaigns)
    prefetch_related_objects(campaigns, "hit_type")
    pks = [campaign.pk for campaign in campaigns]
    hits = {
        row["campaign"]: row
        # A HIT that was closed before it was taken is not asked for.
        for row in HIT.objects.filter(campaign__in=pks, max_assignments__gt=0)
        .order_by()
        .values("campaign")
        .annotate(n=Count("pk"), waiting=Sum("n_available"))
    }
    done = _n_done(pks) if whole_hits else {}
    work = _work(pks)
    spent = _spent(pks)
    # The pace of programs says nothing about hourly pay.
    seconds = _active_seconds([c.pk for c in campaigns if not c.simulated])
    progress_by_campaign = {}
    for campaign in campaigns:
        row = hits.get(campaign.pk, {"n": 0, "waiting": 0})
        pace = median(seconds[campaign.pk]) if campaign.pk in seconds else None
        n_answers, n_open, open_rewards = work.get(campaign.pk, (0, 0, 0))
        cents = spent.get(campaign.pk, 0)
        progress_by_campaign[campaign.pk] = CampaignProgress(
            n_hits=row["n"],
            n_done=done.get(campaign.pk, 0),
            n_answers=n_answers,
            n_open=n_open,
            n_waiting=row["waiting"],
            spent_cents=cents,
            # Open assignments keep the reward at which they were taken.
            committed_cents=cents
            + open_rewards
            + n_open * campaign.fee_cents
            + row["waiting"] * unit_cents(campaign),
            budget_cents=campaign.budget_cents,
            median_active_seconds=pace,
            hourly_cents=hourly_cents(campaign.hit_type.reward_cents, pace),
        )
    return progress_by_campaign


def unit_cents(campaign: Campaign) -> int:
    """Return the cents of one assignment with the platform's fee."""
    return campaign.hit_type.reward_cents + campaign.fee_cents


def is_done(campaign: Campaign) -> bool:
    """Check whether no place is free, no assignment is open, and all answers count."""
    if campaign.hits.filter(n_available__gt=0).exists():
        return False
    work = Assignment.objects.filter(hit__campaign=campaign).aggregate(
        n_open=Count("pk", filter=Q(state=State.ACCEPTED)),
        n_counted=Count("pk", filter=Q(state__in=COUNTED, replaced_at=None)),
        n_unvouched=Count("pk", filter=Q(is_unvouched("pk"), state__in=COUNTED)),
        n_replaced=Count("pk", filter=Q(replaced_at__isnull=False)),
    )
    if work["n_open"] or work["n_unvouched"]:
        return False
    n_places = campaign.hits.aggregate(n=Sum("max_assignments"))["n"] or 0
    # A replaced answer keeps its place in addition to the one opened for it.
    return bool(work["n_counted"] == n_places - work["n_replaced"])


def _n_done(pks: list[int]) -> dict[int, int]:
    here = Assignment.objects.filter(hit=OuterRef("pk"))
    rows = (
        HIT.objects.filter(
            Exists(here.filter(state__in=COUNTED, replaced_at=None)),
            ~Exists(here.filter(state=State.ACCEPTED)),
            campaign__in=pks,
            n_available=0,
        )
        .order_by()
        .values_list("campaign")
        .annotate(n=Count("pk"))
    )
    return dict(rows)


def _work(pks: list[int]) -> dict[int, tuple[int, int, int]]:
    at_work = Q(state=State.ACCEPTED)
    rows = (
        Assignment.objects.filter(
            at_work | Q(state__in=COUNTED, replaced_at=None), hit__campaign__in=pks
        )
        .order_by()
        .values_list("hit__campaign")
        .annotate(
            n=Count("pk", filter=~at_work),
            n_open=Count("pk", filter=at_work),
            cents=Sum("reward_cents", filter=at_work, default=0),
        )
    )
    return {pk: (n, n_open, cents) for pk, n, n_open, cents in rows}


def _spent(pks: list[int]) -> dict[int, int]:
    return dict(
        LedgerEntry.objects.filter(campaign__in=pks)
        .exclude(state__in=UNSPENT)
        .order_by()
        .values_list("campaign")
        .annotate(cents=Sum("amount_cents"))
    )


def _active_seconds(pks: list[int]) -> dict[int, list[float]]:
    seconds_by_campaign: dict[int, list[float]] = {}
    for pk, seconds in Assignment.objects.filter(
        hit__campaign__in=pks, active_seconds__isnull=False
    ).values_list("hit__campaign", "active_seconds"):
        if seconds is not None:
            seconds_by_campaign.setdefault(pk, []).append(seconds)
    return seconds_by_campaign


def open_pages(campaigns: Iterable[int]) -> dict[int, tuple[int, datetime]]:
    rows = Assignment.objects.filter(hit__campaign__in=campaigns, state=State.ACCEPTED)
    counted = (
        rows.order_by()
        .values_list("hit__campaign")
        .annotate(
            n=Count(Coalesce("page", "pk"), distinct=True), until=Max("deadline_at")
        )
    )
    return {campaign: (n, until) for campaign, n, until in counted}


def stopped_words(pages: Iterable[tuple[int, datetime]]) -> str:
    found = list(pages)
    if not found:
        return gettext("stopped")
    n = sum(count for count, _ in found)
    until = max(due for _, due in found).astimezone(UTC)
    is_today = until.date() == timezone.now().astimezone(UTC).date()
    return ngettext(
        "stopped; waiting for %(n)s open page until %(time)s UTC",
        "stopped; waiting for %(n)s open pages until %(time)s UTC",
        n,
    ) % {"n": f"{n:,}", "time": f"{until:{'%H:%M' if is_today else '%Y-%m-%d %H:%M'}}"}


def state_words(campaign: Campaign) -> str:
    """Return a campaign's state; for a stopped one, also its open pages."""
    if campaign.state != Campaign.State.STOPPED or campaign.completed_at is not None:
        return campaign.get_state_display()
    return stopped_words(open_pages([campaign.pk]).values())
