"""Which of a submission's outputs come first: by what people or metrics said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Q

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.evidence import MetricLine
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of, unit_for
from leaderboard.metric_runs.models.result import MetricResult
from leaderboard.metric_runs.selectors.labels import metric_words
from leaderboard.submissions.models.submission import Prediction, Submission

RATING, APART = "rating", "disagreement"
_LONGEST = 200


@dataclass(frozen=True)
class Wish:
    """What a reader wants to see first; `key` is empty for the task's own order."""

    text: str = ""
    key: str = ""
    ascending: bool = True

    def query(self) -> dict[str, str]:
        """Give the wish as an address has it."""
        parts = {
            "q": self.text,
            "by": self.key,
            "dir": "" if self.ascending else "desc",
        }
        return {name: value for name, value in parts.items() if value}


@dataclass(frozen=True)
class Arranged:
    """The outputs' positions in the order wished for, and the numbers of each.

    Parameters
    ----------
    positions : list of int
    ratings : dict
        Position to the mean of what people said, out of 100 where the scale has ends.
    values : dict
        Position to the metric that was asked for; empty where none was.
    metric : str
        Its slug.
    """

    positions: list[int]
    ratings: dict[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    metric: str = ""


def apart_from(slug: str) -> str:
    """Name the order by how far people and a metric are apart."""
    return f"{APART}-{slug}"


def choices(metrics: Sequence[MetricLine], *, judged: bool) -> list[tuple[str, str]]:
    """List the orders that can be asked for."""
    orders = [("", "the task’s order")]
    if judged:
        orders.append((RATING, "human rating"))
        orders += [
            (
                apart_from(line.words.slug),
                f"disagreement between people and {line.words.label}",
            )
            for line in metrics
        ]
    return orders + [(line.words.slug, line.words.label) for line in metrics]


def read_wish(text: str, key: str, direction: str, known: Sequence[str]) -> Wish:
    """Read a wish from an address; what is not known is the task's own order."""
    text = text.replace("\x00", "").strip()[:_LONGEST]
    if key == APART:  # of addresses before it said which metric: the headline's
        key = next((order for order in known if order.startswith(f"{APART}-")), "")
    key = key if key in known else ""
    return Wish(text, key, ascending=direction != "desc")


def arranged(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    wish: Wish,
) -> Arranged:
    """Put the outputs in order; `evaluation` is None where ratings are not to be told.

    What has no number stands last, in the task's order.
    """
    positions = _positions_with(submission, wish.text)
    ratings = ratings_of(evaluation) if evaluation is not None else {}
    slug = "" if wish.key == RATING else wish.key.removeprefix(f"{APART}-")
    values = _values(submission, slug) if slug else {}
    numbers = ratings if wish.key == RATING else values
    if wish.key.startswith(f"{APART}-"):
        numbers = _apart(ratings, values, slug)
    if numbers:
        sign = 1 if wish.ascending else -1
        # the sign turns the numbers instead of `reverse`, which would also put those
        # without a number first and positions backwards
        positions.sort(key=lambda p: (p not in numbers, sign * numbers.get(p, 0.0), p))
    return Arranged(positions, ratings, values, slug)


def _positions_with(submission: Submission, text: str) -> list[int]:
    rows = Prediction.objects.filter(submission=submission)
    if text:
        rows = rows.filter(
            Q(text__icontains=text) | Q(instance__instance_id__icontains=text)
        )
    ordered = rows.order_by("instance__position")
    return list(ordered.values_list("instance__position", flat=True))


def ratings_of(evaluation: HumanEvaluation) -> dict[int, float]:
    """Give the mean rating of each output by its position, on the criterion that ranks."""
    ratings = system_ratings_of([evaluation.pk])
    main = main_criterion(evaluation.task)
    ratings = ratings[ratings["criterion"] == main]
    if ratings.empty:
        return {}
    unit = unit_for(evaluation.design, evaluation.campaign, main)
    points = unit.averaged(ratings["value"].to_numpy(float))
    means = ratings.assign(points=points).groupby("instance")["points"].mean()
    return {int(str(instance)): float(mean) for instance, mean in means.items()}


def _values(submission: Submission, slug: str) -> dict[int, float]:
    result = (
        MetricResult.objects.filter(submission=submission, metric=slug)
        .order_by("-pk")
        .first()
    )
    return dict(enumerate(result.per_instance)) if result else {}


def _apart(
    ratings: dict[int, float],
    values: dict[int, float],
    slug: str,
) -> dict[int, float]:
    """Measure how far people and a metric are apart, in ranks; the furthest is least."""
    from scipy.stats import rankdata

    judged = sorted(set(ratings) & set(values))
    if not judged:
        return {}
    down = -1.0 if metric_words(slug).better.startswith("lower") else 1.0
    # ranks, because ratings and metrics have different units and no common zero
    people = rankdata([ratings[p] for p in judged])
    metric = rankdata([down * values[p] for p in judged])
    gaps = -np.abs(people - metric)
    return dict(zip(judged, gaps.tolist(), strict=True))
