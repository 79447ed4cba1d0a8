from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from crowd.elsewhere.models import ExternalSession
from crowd.hits.models import ELSEWHERE, Assignment, Campaign
from crowd.hits.selectors import campaign_progress
from crowd.money.models import LedgerEntry
from crowd.platforms.base import kind_of
from crowd.pricing import fee_per_assignment, hourly_cents, missing_cents

if TYPE_CHECKING:
    from collections.abc import Iterable

# With fewer measured times the median says more about one person than about the work.
ENOUGH_TIMES = 5
# The prefix of such bonuses' keys in the ledger.
KEY = "fair-pay:"
UNDECIDED = (Assignment.State.ACCEPTED, Assignment.State.SUBMITTED)


@dataclass(frozen=True)
class Shortfall:
    """The amount missing for one campaign's workers, in cents."""

    hourly_cents: int
    floor_cents: int
    # of those who got the least, if the reward has changed
    each_cents: int
    n_assignments: int
    n_workers: int
    bonus_cents: int
    # the platform's fee for the bonuses
    fee_cents: int

    @property
    def total_cents(self) -> int:
        return self.bonus_cents + self.fee_cents

    @property
    def is_even(self) -> bool:
        return self.bonus_cents == self.each_cents * self.n_assignments


@dataclass(frozen=True)
class Owed:
    key: str
    assignment: int
    worker: int
    n_answers: int
    cents: int
    fee_cents: int


def shortfall(campaign: Campaign) -> Shortfall | None:
    """Return what approved work lacks to the minimum; None if nothing is missing.

    Each answer of the same reward lacks the same: the median pace counts, not the
    worker's own, so that slow work is not rewarded.
    """
    if campaign.platform == ELSEWHERE:
        return None  # The pay on other sites is not known here and cannot be raised.
    progress = campaign_progress(campaign)
    n_times = Assignment.objects.filter(
        hit__campaign=campaign, active_seconds__gt=0
    ).count()
    if n_times < ENOUGH_TIMES or progress.median_active_seconds is None:
        return None
    bonuses = bonuses_owed(campaign, progress.median_active_seconds)
    if not bonuses:
        return None
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    least = min(without_bonus(campaign).values_list("reward_cents", flat=True))
    return Shortfall(
        hourly_cents(least, progress.median_active_seconds) or 0,
        floor,
        missing_cents(least, progress.median_active_seconds, floor),
        sum(bonus.n_answers for bonus in bonuses),
        len({bonus.worker for bonus in bonuses}),
        sum(bonus.cents for bonus in bonuses),
        sum(bonus.fee_cents for bonus in bonuses),
    )


def bonuses_owed(campaign: Campaign, median_seconds: float) -> list[Owed]:
    """Return the bonuses for the shortfall.

    One for each answer. If a platform pays and a visit holds several answers, one for
    the visit, because each bonus there is a separate call.
    """
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    by_visit = _by_visit(campaign)
    parts: dict[str, list[tuple[int, int, int]]] = {}
    rows = without_bonus(campaign).values_list(
        "pk", "worker", "reward_cents", "session_work__session"
    )
    for pk, worker, reward, session in cast("Iterable[tuple[int, ...]]", rows):
        missing = missing_cents(reward, median_seconds, floor)
        if missing:
            key = _of_visit(session) if by_visit and session else f"{KEY}{pk}"
            parts.setdefault(key, []).append((pk, worker, missing))
    bonuses = []
    for key, answers in parts.items():
        cents = sum(missing for _, _, missing in answers)
        fee = fee_per_assignment(campaign.platform, cents)
        pk, worker, _ = answers[0]
        bonuses.append(Owed(key, pk, worker, len(answers), cents, fee))
    return bonuses


def _by_visit(campaign: Campaign) -> bool:
    capabilities = kind_of(campaign.platform).capabilities
    return capabilities.pays and not capabilities.answers_there


def _of_visit(session: object) -> str:
    return f"{KEY}session:{session}"


def is_underpaid(campaign: Campaign) -> bool:
    """Check whether an hour pays less than the minimum, if enough times are measured.

    Uses the times measured on our pages, whatever the platform. Volunteers agreed to no
    pay.
    """
    if campaign.simulated or campaign.hit_type.reward_cents == 0:
        return False
    seconds = [
        float(seconds_of_one)
        for seconds_of_one in Assignment.objects.filter(
            hit__campaign=campaign, active_seconds__gt=0
        ).values_list("active_seconds", flat=True)
        if seconds_of_one is not None
    ]
    if len(seconds) < ENOUGH_TIMES:
        return False
    floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
    return missing_cents(campaign.hit_type.reward_cents, median(seconds), floor) > 0


def without_bonus(campaign: Campaign) -> QuerySet[Assignment]:
    bonuses = LedgerEntry.objects.filter(
        assignment=OuterRef("pk"), kind=LedgerEntry.Kind.BONUS
    )
    assignments = Assignment.objects.filter(
        ~Exists(bonuses),
        hit__campaign=campaign,
        state=Assignment.State.APPROVED,
        worker__simulated=False,
        reward_cents__gt=0,
    ).order_by("pk")
    if kind_of(campaign.platform).capabilities.pays:
        # The platform can only pay people who came from it.
        assignments = assignments.filter(session_work__isnull=False)
    if _by_visit(campaign):
        assignments = assignments.exclude(session_work__session__in=_not_now(campaign))
    return assignments


def _not_now(campaign: Campaign) -> list[int]:
    visits = ExternalSession.objects.filter(campaign=campaign)
    waiting = visits.filter(work__assignment__state__in=UNDECIDED)
    names = {_of_visit(pk): pk for pk in visits.values_list("pk", flat=True)}
    paid_keys = LedgerEntry.objects.filter(
        campaign=campaign, idempotency_key__startswith=_of_visit("")
    ).values_list("idempotency_key", flat=True)
    return [*waiting.values_list("pk", flat=True), *(names[key] for key in paid_keys)]
