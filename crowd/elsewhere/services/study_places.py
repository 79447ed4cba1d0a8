"""A study of many places: work per place, cost per place, and places needed."""

import math
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from crowd.elsewhere.models import ExternalCampaign, ExternalSession
from crowd.elsewhere.models import OutwardCall as Call
from crowd.hits.models import Assignment, Campaign
from crowd.money.models import LedgerEntry
from crowd.pricing import fee_per_assignment

# Places in one of these states cannot be taken by another person.
TAKEN = ("started", "submitted", "approved", "screened-out")
AT_WORK = (
    Assignment.State.ACCEPTED,
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
)


@dataclass(frozen=True)
class Cut:
    size: int
    n_places: int


def cut(n_assignments: int, wanted_size: int) -> Cut:
    """Divide the work into places of about the wanted size, with least remainder.

    The last place holds the remainder and is paid like the others. So the size with the
    smallest remainder is used, down to half the wanted size.

    Examples
    --------
    >>> cut(880, 10), cut(54, 10), cut(3, 10)
    (Cut(size=10, n_places=88), Cut(size=9, n_places=6), Cut(size=3, n_places=1))
    """
    largest = max(1, min(wanted_size, n_assignments))
    sizes = range(largest, (largest + 1) // 2 - 1, -1)
    size = min(sizes, key=lambda k: math.ceil(n_assignments / k) * k)
    return Cut(size, math.ceil(n_assignments / size))


def cuts(n_assignments: int, wanted_size: int) -> list[Cut]:
    """Return the cut of about the wanted size, and one without a remainder.

    Examples
    --------
    >>> cuts(5, 3)
    [Cut(size=3, n_places=2), Cut(size=1, n_places=5)]
    """
    largest = max(1, min(wanted_size, n_assignments))
    even = next(k for k in range(largest, 0, -1) if n_assignments % k == 0)
    return [cut(n_assignments, wanted_size), Cut(even, n_assignments // even)]


def n_places_told(campaign: Campaign) -> int:
    rows = Call.objects.filter(
        campaign=campaign, kind__in=[Call.Kind.PUBLISH, Call.Kind.EXTEND]
    ).exclude(state=Call.State.FAILED)
    return rows.aggregate(n=Sum("n"))["n"] or 0


def missing_places(campaign: Campaign, place: ExternalCampaign) -> int:
    # A visit that may be forged takes no place on the platform.
    sessions = ExternalSession.objects.filter(campaign=campaign, is_vouched=True)
    n_taken = sessions.filter(status__in=TAKEN).count()
    free = max(0, n_places_told(campaign) - n_taken) * place.place_size
    under_way = sessions.filter(status="started", collected_at=None).annotate(
        n=Count("work", filter=Q(work__assignment__state__in=AT_WORK))
    )
    # A person who began a place will fill it, so its rest need not be offered again.
    coming = sum(
        max(0, place.place_size - n) for n in under_way.values_list("n", flat=True)
    )
    n_open = campaign.hits.aggregate(n=Sum("n_available"))["n"] or 0
    return max(0, math.ceil((n_open - free - coming) / place.place_size))


def left_cents(campaign: Campaign, place: ExternalCampaign) -> int:
    """Return the budget left after places, bonuses and screen-outs, with fees.

    Never more than was approved: places count as if each were taken.
    """
    places = n_places_told(campaign) * price_cents(campaign, place)
    early = Call.objects.filter(
        campaign=campaign, kind=Call.Kind.BONUS, entry=None
    ).exclude(state=Call.State.FAILED)
    # Pay for whole visits and each bonus have separate fees.
    sums = [
        fee_per_assignment(campaign.platform, cents) + cents
        for cents in early.values_list("amount_cents", flat=True)
    ]
    bonuses = LedgerEntry.objects.filter(
        Q(kind=LedgerEntry.Kind.BONUS) | Q(idempotency_key__startswith="bonus-fee:"),
        campaign=campaign,
    ).exclude(state__in=[LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED])
    spent = bonuses.aggregate(n=Sum("amount_cents"))["n"] or 0
    reserve = screen_out_cents(campaign, place)
    return campaign.budget_cents - places - sum(sums) - spent - reserve


def screen_out_cents(campaign: Campaign, place: ExternalCampaign) -> int:
    each = int(place.terms.get("screen_out_cents", 0))
    n = int(place.terms.get("screen_out_places", 0))
    return n * (each + fee_per_assignment(campaign.platform, each))


def price_cents(campaign: Campaign, place: ExternalCampaign) -> int:
    return campaign.hit_type.reward_cents * place.place_size + place.place_fee_cents
