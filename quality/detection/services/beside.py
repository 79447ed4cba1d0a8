"""Facts about a worker's answers that staff see beside the evidence."""

from collections.abc import Collection
from statistics import median

import numpy as np

from crowd.hits.models.assignment import Assignment
from quality.detection.services.evidence import Evidence

# Workers with fewer ratings get no such facts.
_LEAST = 10
# A worker who reads rarely reaches this.
_ALIKE, _QUICK = 0.8, 0.4


def facts_beside(
    pool: str, evidence: Evidence, numbers: Collection[int]
) -> dict[int, list[str]]:
    """Describe, by worker number, whether they answer alike or quickly."""
    facts: dict[int, list[str]] = {number: [] for number in numbers}
    seconds = _seconds(pool, [evidence.workers[number] for number in numbers])
    usual = _usual_seconds(pool) if seconds else None
    for number, said in facts.items():
        said += _alike(evidence, number)
        own = seconds.get(evidence.workers[number], [])
        if usual and len(own) >= _LEAST and median(own) < _QUICK * usual:
            said.append(
                f"a median of {median(own):.0f} s a HIT, where others take {usual:.0f} s"
            )
    return facts


def _alike(evidence: Evidence, number: int) -> list[str]:
    if evidence.ratings is None:
        return []
    values = evidence.ratings.value[evidence.ratings.worker == number]
    if len(values) < _LEAST:
        return []
    most = int(np.unique(values, return_counts=True)[1].max())
    if most < _ALIKE * len(values):
        return []
    return [f"{most} of {len(values)} ratings of real items are the same"]


def _seconds(pool: str, workers: Collection[int]) -> dict[int, list[float]]:
    rows = Assignment.objects.filter(
        worker__in=workers, hit__campaign__pool=pool, active_seconds__gt=0
    ).order_by("pk")
    seconds: dict[int, list[float]] = {}
    for worker, own in rows.values_list("worker", "active_seconds"):
        seconds.setdefault(worker, []).append(float(own or 0.0))
    return seconds


def _usual_seconds(pool: str) -> float | None:
    rows = Assignment.objects.filter(hit__campaign__pool=pool, active_seconds__gt=0)
    newest = list(rows.order_by("-pk").values_list("active_seconds", flat=True)[:1_000])
    return median(map(float, filter(None, newest))) if newest else None
