"""Where an hour of work paid less than it should, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from crowd.models import Assignment, Campaign, LedgerEntry
from crowd.pricing import missing_cents
from crowd.selectors.progress import campaign_progress

# With fewer measured times the median says more about one person than about the work.
ENOUGH_TIMES = 5


@dataclass(frozen=True)
class Shortfall:
    """What is missing for one campaign's people, in cents."""

    hourly_cents: int
    floor_cents: int
    each_cents: int
    n_assignments: int
    n_workers: int

    @property
    def total_cents(self) -> int:
        """Give the cost of making up for it."""
        return self.each_cents * self.n_assignments


def shortfall(campaign: Campaign) -> Shortfall | None:
    """Give what approved work lacks to the floor; None where nothing is missing.

    Each answer of the campaign lacks the same: the median pace decides, not the
    worker's own, so that nobody gains by being slow.
    """
    progress = campaign_progress(campaign)
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    each = missing_cents(
        campaign.hit_type.reward_cents, progress.median_active_seconds, floor
    )
    n_times = Assignment.objects.filter(
        hit__campaign=campaign, active_seconds__gt=0
    ).count()
    concerned = without_bonus(campaign)
    n = concerned.count()
    if not each or not n or n_times < ENOUGH_TIMES or progress.hourly_cents is None:
        return None
    n_workers = concerned.order_by().values("worker").distinct().count()
    return Shortfall(progress.hourly_cents, floor, each, n, n_workers)


def is_underpaid(campaign: Campaign) -> bool:
    """Tell whether an hour pays less than the floor, as far as enough times tell.

    This goes by what was measured on our pages, wherever the people come from.
    """
    if campaign.simulated:
        return False
    seconds = [
        float(one)
        for one in Assignment.objects.filter(
            hit__campaign=campaign, active_seconds__gt=0
        ).values_list("active_seconds", flat=True)
        if one is not None
    ]
    if len(seconds) < ENOUGH_TIMES:
        return False
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    return missing_cents(campaign.hit_type.reward_cents, median(seconds), floor) > 0


def without_bonus(campaign: Campaign) -> QuerySet[Assignment]:
    """Find people's approved work that has not been made up for."""
    given = LedgerEntry.objects.filter(
        assignment=OuterRef("pk"), kind=LedgerEntry.Kind.BONUS
    )
    return Assignment.objects.filter(
        ~Exists(given),
        hit__campaign=campaign,
        state=Assignment.State.APPROVED,
        worker__simulated=False,
    ).order_by("pk")
