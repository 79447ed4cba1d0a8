"""Who judged, in figures that name nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from crowd.campaigns.selectors.reading_pace import is_faster_than_reading
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.hits.selectors.wording import language_written
from crowd.money.models import LedgerEntry
from crowd.pricing import hourly_cents
from leaderboard.evaluation.selectors.system_ratings import known_to_nobody
from quality.detection.models import Ban
from quality.test_questions.models import Grade

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)
_GONE = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)
# Of fewer workers nothing is said of how much each did: it could tell who they are.
LEAST_WORKERS = 3
OTHERS = "others"


# Of work that was imported, nobody may know when it was handed in.
_HANDED_IN = Q(submitted_at__isnull=False) | Q(state__in=COUNTED)


@dataclass(frozen=True)
class WorkerFigures:
    """What the people (or programs) behind campaigns did, together.

    Parameters
    ----------
    n_workers, n_excluded : int
        Who handed something in, and how many of them do not count.
    n_assignments, n_rejected, n_replaced : int
        Pieces of work handed in, refused, and asked for again.
    most, median : int or None
        Pieces of work of the busiest and of the middle worker; None of too few.
    median_seconds : float or None
        Active time of a piece of work; None where it was not measured.
    hourly_cents : int or None
        What an hour paid at that pace, at the least reward.
    faster_than_reading : bool
        Whether that pace is too fast to have read the texts; then the pay says nothing.
    reward_cents, highest_reward_cents : int
        For one piece of work; two where staff changed it meanwhile.
    paid_cents, fee_cents : int
        To workers, bonuses included, and to the platform.
    n_asked, n_wrong : int
        Test questions answered, and answered wrongly.
    languages : tuple of str
        In which work was read.
    by_language : mapping
        Pieces of work by language, those that few read together; empty where that would
        tell of few workers.
    """

    n_workers: int
    n_excluded: int
    n_assignments: int
    n_rejected: int
    n_replaced: int
    most: int | None
    median: int | None
    median_seconds: float | None
    hourly_cents: int | None
    faster_than_reading: bool
    reward_cents: int
    highest_reward_cents: int
    paid_cents: int
    fee_cents: int
    n_asked: int
    n_wrong: int
    languages: tuple[str, ...] = ()
    by_language: Mapping[str, int] = field(default_factory=dict)


def worker_figures(campaigns: Sequence[Campaign]) -> WorkerFigures:
    """Count over the campaigns of one evaluation, in five queries and two for each."""
    handed_in = Assignment.objects.filter(_HANDED_IN, hit__campaign__in=campaigns)
    counts = handed_in.aggregate(
        rejected=Count("pk", filter=Q(state=Assignment.State.REJECTED)),
        replaced=Count("pk", filter=Q(replaced_at__isnull=False)),
        least=Min("reward_cents"),
        highest=Max("reward_cents"),
    )
    done = work_done(handed_in)
    per_worker: Counter[int] = Counter()
    for worker, _, n in done:
        per_worker[worker] += n
    loads = sorted(per_worker.values())
    seconds = list(
        handed_in.filter(state__in=COUNTED, active_seconds__gt=0)
        .order_by()
        .values_list("active_seconds", flat=True)
    )
    if any(campaign.simulated for campaign in campaigns):
        seconds = []  # what a program takes says nothing about what an hour pays
    pace = float(np.median(np.array(seconds, dtype=float))) if seconds else None
    offered = campaigns[0].hit_type.reward_cents if campaigns else 0
    reward = offered if counts["least"] is None else counts["least"]
    paid, fee = paid_and_fee(campaigns)
    n_asked, n_wrong = _questions(campaigns)
    enough_workers = len(loads) >= LEAST_WORKERS
    written = language_written(campaigns[0].hit_type) if campaigns else ""
    languages, by_language = read_in(done, written)
    return WorkerFigures(
        n_workers=len(loads) - len(known_to_nobody([*per_worker])),
        n_excluded=_excluded(campaigns),
        n_assignments=sum(loads),
        n_rejected=counts["rejected"],
        n_replaced=counts["replaced"],
        most=loads[-1] if enough_workers else None,
        median=int(np.median(loads)) if enough_workers else None,
        median_seconds=pace,
        hourly_cents=hourly_cents(reward, pace),
        faster_than_reading=any(
            is_faster_than_reading(campaign) for campaign in campaigns
        ),
        reward_cents=reward,
        highest_reward_cents=max(reward, counts["highest"] or 0),
        paid_cents=paid,
        fee_cents=fee,
        n_asked=n_asked,
        n_wrong=n_wrong,
        languages=languages,
        by_language=by_language,
    )


def work_done(handed_in: QuerySet[Assignment]) -> list[tuple[int, str, int]]:
    """Count pieces of work by worker and the language that they read it in."""
    rows = handed_in.order_by().values_list("worker", "language")
    return list(rows.annotate(n=Count("pk")))


def read_in(
    done: Iterable[tuple[int, str, int]], written: str
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Count pieces of work by language; a language of few workers could tell who they are."""
    work: Counter[str] = Counter()
    workers: dict[str, set[int]] = {}
    for worker, language, n in done:
        # work of before languages were kept was read in that of its questions
        named = language or written
        work[named] += n
        workers.setdefault(named, set()).add(worker)
    few = {language for language in work if len(workers[language]) < LEAST_WORKERS}
    counts = {
        language: n for language, n in sorted(work.items()) if language not in few
    }
    if few:
        counts[OTHERS] = sum(work[language] for language in few)
    others = set().union(*(workers[language] for language in few))
    tells = 0 < len(others) < LEAST_WORKERS
    return tuple(sorted(work)), {} if tells else counts


def _excluded(campaigns: Sequence[Campaign]) -> int:
    pools = {campaign.pool for campaign in campaigns}
    banned = Ban.objects.filter(pool__in=pools, lifted_at=None).values("worker")
    return (
        Assignment.objects.filter(
            _HANDED_IN, hit__campaign__in=campaigns, worker__in=banned
        )
        .order_by()
        .values("worker")
        .distinct()
        .count()
    )


def paid_and_fee(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    """Give what went to workers and what went to the platform, in cents."""
    rows = (
        LedgerEntry.objects.filter(campaign__in=campaigns)
        .exclude(state__in=_GONE)
        .order_by()
        .values_list("kind")
        .annotate(cents=Sum("amount_cents"))
    )
    # rewards and bonuses both go to workers; the fee is the platform's alone
    cents = {kind: total or 0 for kind, total in rows}
    fee = cents.pop(LedgerEntry.Kind.FEE, 0)
    return sum(cents.values()), fee


def _questions(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    counts = Grade.objects.filter(placement__campaign__in=campaigns).aggregate(
        n=Count("pk"), wrong=Count("pk", filter=Q(correct=False))
    )
    return counts["n"], counts["wrong"]
