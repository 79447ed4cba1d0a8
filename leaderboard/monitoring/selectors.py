from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour
from django.utils import timezone
from django.utils.text import capfirst

from crowd.campaigns.services.run import HELD_BY_SHARES, HERE, STARVED, is_too_fast
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import (
    COUNTED,
    UNSPENT,
    CampaignProgress,
    open_pages,
    progress_of,
    stopped_words,
)
from crowd.money.models import LedgerEntry
from crowd.workers.models.worker import Invitation, Worker
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.submissions.states import State
from leaderboard.tasks.models import Task
from quality.bans.models import Ban
from quality.test_questions.models import Grade

HOUR = timedelta(hours=1)
# The pace is that of the last day: shorter is noise, longer is outdated.
LATELY = timedelta(days=1)
# A longer campaign is summarized by day.
HOURLY_UP_TO = timedelta(days=3)
# With fewer answers, a pace is too noisy.
SHORTEST = timedelta(minutes=15)
UNDER_WAY = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.SCHEDULED)
# Of more people, the page of a task shows the last.
N_RATERS = 200


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


def watch_campaigns(campaigns: Iterable[Campaign], now: datetime) -> list[Watched]:
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


def studies(task: Task, rows: Iterable[Watched]) -> list[dict[str, Any]]:
    """Return what a page shows of a task's evaluations, by person and kind.

    An organizer's pairs of systems, or systems that joined later, are one study.
    """
    of_campaign = {row.campaign.pk: row for row in rows}
    asked = task.human_evaluations.exclude(
        state__in=[State.WITHDRAWN, State.DECLINED]
    ).filter(Q(campaigns=None) | Q(campaigns__campaign__in=of_campaign))
    if task.side_by_side:
        asked = asked.exclude(kind=HumanEvaluation.Kind.RATINGS)
    groups: dict[tuple[object, ...], list[HumanEvaluation]] = {}
    for one in asked.distinct().order_by("-pk"):
        groups.setdefault((one.kind, one.requested_by_id), []).append(one)
    return [
        _study(
            group,
            [
                of_campaign[campaign.pk]
                for one in group
                for campaign in one.campaigns_in_order
                if campaign.pk in of_campaign
            ],
        )
        for group in groups.values()
    ]


def _study(evaluations: list[HumanEvaluation], rows: list[Watched]) -> dict[str, Any]:
    campaigns = [row.campaign for row in rows]
    n, n_left = (
        sum(getattr(row.progress, name) for row in rows)
        for name in ("n_answers", "n_left")
    )
    per_hour = sum(row.per_hour or 0 for row in rows)
    return {
        "evaluations": evaluations,
        "n": n,
        "n_all": n + n_left,
        "per_hour": per_hour,
        "expected_end": timezone.now() + HOUR * (n_left / per_hour)
        if any(row.expected_end for row in rows)
        else None,
        # more answers can be added to these
        "asks": [c for c in campaigns if c.answers_per_hit and c.state in UNDER_WAY],
        "pages": open_here(evaluations[0].task.slug).filter(
            hit__campaign__in=campaigns
        ),
        "waits": _waits(evaluations, rows),
    }


def _waits(evaluations: list[HumanEvaluation], rows: list[Watched]) -> str:
    campaigns = [row.campaign for row in rows]
    pages = open_pages([one.pk for one in campaigns]).values()
    words, running = stopped_words(pages), Campaign.State
    states = {one.state for one in campaigns if one.completed_at is None}
    asked = {one.state for one in evaluations}
    failed = " ".join(one.failure for one in evaluations)
    all_taken = pages and not any(row.progress.n_waiting for row in rows)
    stuck = any(STARVED in c.notice or HELD_BY_SHARES in c.notice for c in campaigns)
    reasons = [
        (failed.strip(), f"A step failed: {failed}"),
        (not states and State.REQUESTED in asked, "Waiting for approval."),
        (not states and State.APPROVED in asked, "Starts within minutes."),
        (running.STOPPED in states, capfirst(f"{words}.")),
        (running.PAUSED in states, "Paused."),
        (running.SCHEDULED in states, "Starts at its planned time."),
        (all_taken, f"All other ratings are in; {words.removeprefix('stopped; ')}."),
        (stuck, "No rater can do the remaining work. Add a rater, or stop."),
    ]
    return next((sentence for holds, sentence in reasons if holds), "")


def raters_of(pool: str) -> QuerySet[Worker]:
    """Select those who rated in a task's campaigns, or came by a link to them."""
    rated = Assignment.objects.filter(hit__campaign__pool=pool).values("worker")
    return Worker.objects.filter(
        Q(pk__in=rated)
        | Q(pk__in=Invitation.objects.filter(pool=pool).values("guests"))
    )


def open_here(pool: str) -> QuerySet[Assignment]:
    """Select the pages of a task that raters have open on this site."""
    return Assignment.objects.filter(
        hit__campaign__pool=pool,
        hit__campaign__platform=HERE,
        state=Assignment.State.ACCEPTED,
        page=None,
    )


def raters(pool: str, campaigns: Collection[Campaign]) -> list[dict[str, Any]]:
    """Return the people of a task, the last one to rate first."""
    counted = Q(
        assignments__hit__campaign__in=[campaign.pk for campaign in campaigns],
        assignments__state__in=COUNTED,
    )
    rows = list(
        raters_of(pool)
        .select_related("user")
        .annotate(
            n=Count("assignments", filter=counted, distinct=True),
            last_at=Max("assignments__submitted_at", filter=counted),
        )
        .order_by(F("last_at").desc(nulls_last=True), "pk")[:N_RATERS]
    )
    pages = {page.worker_id: page for page in open_here(pool)}
    bans = {ban.worker_id: ban for ban in Ban.in_force.filter(pool=pool)}
    names = dict(
        Invitation.objects.filter(pool=pool, places=1).values_list("guests", "note")
    )
    return [
        {
            "worker": row,
            "name": names.get(row.pk) or row.user,
            "page": pages.get(row.pk),
            "ban": bans.get(row.pk),
        }
        for row in rows
    ]


def unopened_links(pool: str) -> list[str]:
    """Return for whom links to a task's work are that have not been opened."""
    links = Invitation.objects.exclude(note="").filter(pool=pool, n_taken=0, places=1)
    return [one.note for one in links if one.expires_at > timezone.now()]


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
    hours: float = max(now - max(who["first"], now - LATELY), SHORTEST) / HOUR
    return int(who["n_lately"]) / hours


def _periods(campaigns: list[Campaign]) -> dict[int, list[Period]]:
    pks = [campaign.pk for campaign in campaigns]
    sent = Assignment.objects.filter(hit__campaign__in=pks, submitted_at__isnull=False)
    bounds = sent.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    if bounds["first"] is None:
        return {}
    unit = TruncHour if bounds["last"] - bounds["first"] <= HOURLY_UP_TO else TruncDay
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
