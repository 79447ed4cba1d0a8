from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour

from crowd.campaigns.services.run import is_too_fast
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import COUNTED, UNSPENT, CampaignProgress, progress_of
from crowd.money.models import LedgerEntry
from quality.test_questions.models import Grade

HOUR = timedelta(hours=1)
# The pace is that of the last day: shorter is noise, longer is outdated.
LATELY = timedelta(days=1)
# A longer campaign is summarized by day.
HOURLY_UP_TO = timedelta(days=3)
# With fewer answers, a pace is too noisy.
SHORTEST = timedelta(minutes=15)


@dataclass(frozen=True)
class Period:
    """Arrivals within an hour, or within a day of a long campaign."""

    start: datetime
    n_hits: int = 0
    cents: int = 0
    n_tests: int = 0
    n_right: int = 0


@dataclass(frozen=True)
class Watched:
    """A campaign and its progress.

    `per_hour` is the number of completed HITs per hour of the last day, or since the
    first one was taken; None if none was submitted in that time.
    """

    campaign: Campaign
    progress: CampaignProgress
    n_workers: int
    n_active: int
    per_hour: float | None
    expected_end: datetime | None
    periods: list[Period] = field(default_factory=list)

    @property
    def too_fast(self) -> bool:
        return is_too_fast(self.campaign)

    @property
    def n_tests(self) -> int:
        return sum(period.n_tests for period in self.periods)

    @property
    def n_right(self) -> int:
        return sum(period.n_right for period in self.periods)

    @property
    def planned_cents(self) -> int:
        return planned_cents(self.progress)


def planned_cents(progress: CampaignProgress) -> int:
    if not progress.n_asked:
        return 0
    return round(progress.budget_cents * progress.n_answers / progress.n_asked)


def watched(campaigns: Iterable[Campaign], now: datetime) -> list[Watched]:
    """Return the figures of several campaigns in a constant number of queries."""
    campaigns = list(campaigns)
    pks = [campaign.pk for campaign in campaigns]
    progress, people = progress_of(campaigns), _people(pks, now)
    periods = _periods(campaigns)
    rows = []
    for campaign in campaigns:
        figures = progress[campaign.pk]
        who = people.get(campaign.pk, {})
        per_hour = _per_hour(who, now)
        n_left = figures.n_left
        runs = campaign.state == Campaign.State.RUNNING
        rows.append(
            Watched(
                campaign,
                figures,
                n_workers=who.get("n_workers", 0),
                n_active=who.get("n_active", 0),
                per_hour=per_hour,
                expected_end=(
                    now + HOUR * (n_left / per_hour)
                    if per_hour and n_left and runs
                    else None
                ),
                periods=periods.get(campaign.pk, []),
            )
        )
    return rows


def _people(pks: list[int], now: datetime) -> dict[int, dict[str, Any]]:
    at_work = Q(submitted_at__gt=now - HOUR) | Q(state=Assignment.State.ACCEPTED)
    lately = Q(submitted_at__gt=now - LATELY, state__in=COUNTED, replaced_at=None)
    rows = (
        Assignment.objects.filter(hit__campaign__in=pks)
        .order_by()
        .values("hit__campaign")
        .annotate(
            n_workers=Count("worker", distinct=True),
            n_active=Count("worker", distinct=True, filter=at_work),
            n_lately=Count("pk", filter=lately),
            first=Min("accepted_at", filter=lately),
        )
    )
    return {row["hit__campaign"]: dict(row) for row in rows}


def _per_hour(who: dict[str, Any], now: datetime) -> float | None:
    if not who.get("n_lately"):
        return None
    since = max(who["first"], now - LATELY)
    hours: float = max(now - since, SHORTEST) / HOUR
    return int(who["n_lately"]) / hours


def _periods(campaigns: list[Campaign]) -> dict[int, list[Period]]:
    pks = [campaign.pk for campaign in campaigns]
    sent = Assignment.objects.filter(hit__campaign__in=pks, submitted_at__isnull=False)
    bounds = sent.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    if bounds["first"] is None:
        return {}
    short = bounds["last"] - bounds["first"] <= HOURLY_UP_TO
    unit = TruncHour if short else TruncDay
    counts: dict[tuple[int, datetime], dict[str, int]] = {}

    def add(rows: QuerySet[Any], campaign: str, at: str, **figures: Any) -> None:
        for row in (
            rows.order_by()
            .annotate(period=unit(at))
            .values(pk=F(campaign), period=F("period"))
            .annotate(**figures)
        ):
            place = counts.setdefault((row["pk"], row["period"]), {})
            place.update({name: row[name] or 0 for name in figures})

    add(sent, "hit__campaign", "submitted_at", n_hits=Count("pk"))
    add(
        LedgerEntry.objects.filter(campaign__in=pks).exclude(state__in=UNSPENT),
        "campaign", "created_at", cents=Sum("amount_cents"),
    )  # fmt: skip
    add(
        Grade.objects.filter(test_question__campaign__in=pks),
        "test_question__campaign", "assignment__submitted_at",
        n_tests=Count("pk"), n_right=Count("pk", filter=Q(correct=True)),
    )  # fmt: skip
    periods: dict[int, list[Period]] = {}
    for (pk, start), figures in sorted(counts.items()):
        periods.setdefault(pk, []).append(Period(start, **figures))
    return periods
