"""Who of a pool would be excluded under which assumption, for staff to compare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count

from crowd.hits.models.assignment import Assignment
from quality.detection.models import DetectorFit
from quality.detection.selectors import verdicts_of
from quality.detection.services.counts import counts_of
from quality.detection.stats.detectors import DEFAULT_DETECTOR, detect
from quality.test_questions.models import Polarity
from quality.test_questions.services.grade import COUNTED

_POSTERIORS = (0.9, 0.95, 0.99, 0.999)
_RATES = (0.9, 0.8, 0.7)


@dataclass(frozen=True)
class Assumption:
    """What one rule would do.

    Parameters
    ----------
    rule : str
    n_excluded : int
    n_busy : int
        How many of them are in the tenth of workers who answered most.
    percent_answers : float
        Share of the pool's answers that would no longer count.
    """

    rule: str
    n_excluded: int
    n_busy: int
    percent_answers: float


def assumptions(fit: DetectorFit) -> list[Assumption]:
    """Compare thresholds of a fit to all evidence, and Genie's rule on the same answers."""
    verdicts = verdicts_of(fit)
    if not verdicts:
        return []
    done = _answers(fit.pool, [verdict.worker_id for verdict in verdicts])
    rows = [
        _row(
            f"all evidence, probability above {threshold:g}",
            {v.worker_id for v in verdicts if v.p_noisy > threshold},
            done,
        )
        for threshold in _POSTERIORS
    ]
    simulated = verdicts[0].worker.simulated
    for rate in _RATES:
        excluded: set[int] = set()
        for polarity in Polarity.values:
            counts = counts_of(fit.pool, polarity, simulated=simulated)
            if not counts.workers:
                continue
            detection = detect(
                counts.n_correct,
                counts.n_questions,
                detector=DEFAULT_DETECTOR,
                threshold_rate=rate,
                threshold_posterior=settings.GENIE["BAN_THRESHOLD"],
                seed=fit.seed,
            )
            excluded |= {
                worker
                for worker, noisy in zip(counts.workers, detection.flagged, strict=True)
                if noisy
            }
        rule = f"test questions only, noisy below {100 * rate:g} % right"
        rows.append(_row(f"{rule} ({DEFAULT_DETECTOR})", excluded, done))
    return rows


def _answers(pool: str, workers: Sequence[int]) -> dict[int, int]:
    rows = (
        Assignment.objects.filter(
            hit__campaign__pool=pool, worker__in=workers, state__in=COUNTED
        )
        .order_by()
        .values_list("worker")
        .annotate(n=Count("pk"))
    )
    return dict(rows)


def _row(rule: str, excluded: Collection[int], done: dict[int, int]) -> Assumption:
    by_work = sorted(done, key=lambda worker: (-done[worker], worker))
    busy = set(by_work[: max(1, len(by_work) // 10)])
    lost = sum(done.get(worker, 0) for worker in excluded)
    return Assumption(
        rule,
        len(excluded),
        len(busy & set(excluded)),
        round(100 * lost / max(sum(done.values()), 1), 1),
    )
