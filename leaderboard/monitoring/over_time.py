"""Changes of a campaign's work while it runs: agreement, test questions, speed.

Answers are sorted by arrival and cut into pieces of equal size, so that a quiet night
is not a separate point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from statistics import median
from typing import Any

from crowd.campaigns.selectors.reading_pace import least_seconds
from crowd.hits.models import Assignment, Campaign, Rating
from crowd.hits.selectors import COUNTED
from quality.agreement.krippendorff import Alpha, krippendorff_alpha
from quality.agreement.label_counts import tally
from quality.test_questions.models import Grade, TestQuestion

# The newest rows suffice; more would make a page of many campaigns slow.
N_ROWS = 5_000
N_PIECES = 12
# Smaller pieces are too noisy.
SMALLEST = 10


@dataclass(frozen=True)
class Point:
    at: datetime
    value: float
    n: int


@dataclass(frozen=True)
class OverTime:
    """The data of one campaign's charts; no points if there are too few rows."""

    agreement: list[Point]
    tests: list[Point]
    seconds: list[Point]
    # faster than this, the texts cannot have been read; None for programs
    least_seconds: float | None

    @property
    def too_fast(self) -> bool:
        """Check whether the newest piece was answered faster than it can be read."""
        bound = self.least_seconds
        return bool(self.seconds and bound and self.seconds[-1].value < bound)


def over_time(campaign: Campaign) -> OverTime:
    return OverTime(
        _agreement(campaign),
        _in_pieces(_grades(campaign), lambda values: sum(values) / len(values)),
        _in_pieces(_seconds(campaign), median),
        None
        if campaign.simulated
        else least_seconds([campaign]).get(campaign.pk) or None,
    )


def _newest(rows: Any, at: str, *names: str) -> list[Any]:
    return list(rows.order_by(f"-{at}", "-pk").values_list(at, *names)[:N_ROWS])[::-1]


def _grades(campaign: Campaign) -> list[tuple[datetime, float]]:
    rows = Grade.objects.filter(
        test_question__campaign=campaign, assignment__submitted_at__isnull=False
    )
    return _newest(rows, "assignment__submitted_at", "correct")


def _seconds(campaign: Campaign) -> list[tuple[datetime, float]]:
    rows = Assignment.objects.filter(
        hit__campaign=campaign, submitted_at__isnull=False, active_seconds__isnull=False
    )
    return _newest(rows, "submitted_at", "active_seconds")


def _in_pieces(
    rows: Sequence[tuple[datetime, float]], figure: Callable[[list[float]], float]
) -> list[Point]:
    return [
        Point(piece[-1][0], figure([float(value) for _, value in piece]), len(piece))
        for piece in _pieces(rows)
    ]


def _pieces(rows: Sequence[Any]) -> list[Sequence[Any]]:
    n = min(N_PIECES, len(rows) // SMALLEST)
    ends = [len(rows) * (i + 1) // n for i in range(n)]
    return [rows[i:j] for i, j in zip([0, *ends], ends, strict=False)]


def agreement_in_halves(campaign: Campaign) -> tuple[Alpha, Alpha] | None:
    """Return agreement on the older and newer half of items; None for too few."""
    found = _answers(campaign)
    items = list(dict.fromkeys(row[1] for row in found))
    older = set(items[: len(items) // 2])
    halves = []
    for rows in (
        [row for row in found if row[1] in older],
        [row for row in found if row[1] not in older],
    ):
        if len(rows) < SMALLEST:
            return None
        halves.append(_alpha(rows, n_resamples=200))
    return halves[0], halves[1]


def _alpha(rows: Sequence[Any], n_resamples: int = 0) -> Alpha:
    items = ["\t".join(map(str, row[1:4])) for row in rows]
    labels = tally(items, [row[4] for row in rows])
    return krippendorff_alpha(labels, "interval", n_resamples=n_resamples)


def _answers(campaign: Campaign) -> list[Any]:
    rows = Rating.objects.filter(
        assignment__hit__campaign=campaign,
        assignment__state__in=COUNTED,
        assignment__replaced_at=None,
    ).exclude(item__in=TestQuestion.objects.filter(campaign=campaign).values("item"))
    names = ("item", "criterion", "slot", "value")
    return _newest(rows, "assignment__submitted_at", *names)


def _agreement(campaign: Campaign) -> list[Point]:
    found = _answers(campaign)
    points, n = [], 0
    for piece in _pieces(found):
        n += len(piece)
        alpha = _alpha(found[:n])
        if isfinite(alpha.estimate):
            points.append(Point(piece[-1][0], alpha.estimate, alpha.n_ratings))
    return points
