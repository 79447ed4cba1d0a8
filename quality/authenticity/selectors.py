"""Evidence about workers from pages and test questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Avg, Count, Q

from crowd.campaigns.selectors.reading_pace import WORDS_A_MINUTE, n_words
from crowd.hits.models import Assignment, Item, Telemetry
from crowd.workers.models.worker import Worker
from quality.test_questions.models import Grade

#: How many of the newest pieces of work count, of the worker and of the others.
MOST = 2_000


@dataclass(frozen=True)
class Noticed:
    """What the pages recorded of a worker's work and of everyone else's.

    Parameters
    ----------
    seconds, others_seconds : sequence of float
        Active time of each HIT.
    reading : sequence of float
        Estimated reading time of each of the worker's HITs, in seconds.
    first_change : sequence of float
        Seconds from the opening of the page to the first answer.
    n_pages, n_canaries : int
        HITs with recorded events, and HITs with the hidden field filled in.
    per_hit, others_per_hit : dict
        Means by HIT: changes, losses of the focus, copies, pastes.
    """

    seconds: Sequence[float]
    reading: Sequence[float]
    others_seconds: Sequence[float]
    first_change: Sequence[float]
    n_pages: int
    n_canaries: int
    per_hit: dict[str, float]
    others_per_hit: dict[str, float]


def notice_worker(worker: Worker, pool: str) -> Noticed:
    of_pool = Assignment.objects.filter(
        hit__campaign__pool=pool,
        submitted_at__isnull=False,
        worker__simulated=worker.simulated,
    ).order_by("-pk")
    own = of_pool.filter(worker=worker)
    timed = list(
        own.filter(active_seconds__isnull=False).values_list("hit", "active_seconds")[
            :MOST
        ]
    )
    others = of_pool.exclude(worker=worker).filter(active_seconds__isnull=False)
    signals = Telemetry.objects.filter(assignment__in=own)
    of_others = Telemetry.objects.filter(assignment__in=of_pool.exclude(worker=worker))
    return Noticed(
        seconds=[float(seconds or 0) for _, seconds in timed],
        reading=_reading_times([hit for hit, _ in timed]),
        others_seconds=[
            float(value or 0)
            for value in others.values_list("active_seconds", flat=True)[:MOST]
        ],
        first_change=[
            float(value)
            for value in signals.values_list("first_change_seconds", flat=True)
            if value is not None
        ],
        n_pages=signals.count(),
        n_canaries=signals.filter(canary=True).count(),
        per_hit=_means(signals),
        others_per_hit=_means(of_others),
    )


def tests_of(pool: str) -> dict[int, tuple[int, int]]:
    """Count each worker's test questions of a pool as (right, asked)."""
    rows = (
        Grade.objects.filter(pool=pool)
        .order_by()
        .values_list("worker")
        .annotate(right=Count("pk", filter=Q(correct=True)), n=Count("pk"))
    )
    return {worker: (right, n) for worker, right, n in rows}


def _means(rows: object) -> dict[str, float]:
    names = ("n_changes", "n_focus_losses", "n_copies", "n_pastes")
    means = rows.aggregate(**{f"mean_{name}": Avg(name) for name in names})  # type: ignore[attr-defined]
    return {name: float(means[f"mean_{name}"] or 0) for name in names}


def _reading_times(hits: Sequence[int]) -> list[float]:
    """Return the reading time of each HIT's texts, in seconds."""
    words: dict[int, int] = {}
    for hit, data in Item.objects.filter(hit__in=hits).values_list("hit", "data"):
        words[hit] = words.get(hit, 0) + n_words(data)
    return [60 * words.get(hit, 0) / WORDS_A_MINUTE for hit in hits]
