from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite

import numpy as np
from django.db.models import Q

from crowd.hit_templates.form import CHECKBOXES
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.evidence import MetricLine
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of, unit_for
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.submissions.models import Prediction, Submission

RATING, APART, POSITION = "rating", "disagreement", "order"
_LONGEST = 200


@dataclass(frozen=True)
class Wish:
    """A reader's filter and order; `usual` is the default, which addresses omit."""

    text: str = ""
    key: str = ""
    ascending: bool = True
    low: float | None = None
    high: float | None = None
    flagged: bool = False
    usual: str = ""

    @property
    def narrows(self) -> bool:
        ranged = self.low is not None or self.high is not None
        return bool(self.text) or ranged or self.flagged

    def query(self) -> dict[str, str]:
        parts = {
            "q": self.text,
            "by": "" if self.key == self.usual else self.key or POSITION,
            "dir": "" if self.ascending else "desc",
            "from": "" if self.low is None else f"{self.low:g}",
            "to": "" if self.high is None else f"{self.high:g}",
            "flagged": "1" if self.flagged else "",
        }
        return {name: value for name, value in parts.items() if value}


@dataclass(frozen=True)
class Arranged:
    """The outputs' positions in the requested order, and numbers by position.

    `ratings` are means, out of 100 if the scale has ends. `values` are those of the
    requested metric. `said` has the answers by criterion.
    """

    positions: list[int]
    ratings: dict[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    metric: str = ""
    said: dict[int, dict[str, list[float]]] = field(default_factory=dict)

    def boxes(self, position: int) -> list[str]:
        answers = self.said.get(position, {})
        return [name for name in CHECKBOXES if any(answers.get(name, ()))]


def apart_from(slug: str) -> str:
    return f"{APART}-{slug}"


def choices(metrics: Sequence[MetricLine], *, judged: bool) -> list[tuple[str, str]]:
    orders: list[tuple[str, str]] = []
    if judged:
        orders.append((RATING, "human rating"))
    orders.append((POSITION, "the task’s order"))
    if judged:
        orders += [
            (
                apart_from(line.words.slug),
                f"disagreement between people and {line.words.label}",
            )
            for line in metrics
        ]
    return orders + [(line.words.slug, line.words.label) for line in metrics]


def read_wish(parameters: Mapping[str, str], known: Sequence[str]) -> Wish:
    """Read a wish; unknown values are ignored, and the first known order is default."""
    text = parameters.get("q", "").replace("\x00", "").strip()[:_LONGEST]
    key = parameters.get("by", "")
    if key == APART:  # addresses from before the metric was in them: the headline's
        key = next((order for order in known if order.startswith(f"{APART}-")), "")
    return Wish(
        text,
        key if key in known else known[0],
        ascending=parameters.get("dir") != "desc",
        low=_number(parameters.get("from", "")),
        high=_number(parameters.get("to", "")),
        flagged=parameters.get("flagged") == "1",
        usual=known[0],
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def arranged(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    wish: Wish,
    headline: str = "",
) -> Arranged:
    """Return outputs in order, those without a number last, in the task's order.

    `evaluation` is None if ratings are hidden; `headline` is the default metric.
    """
    positions = _positions_with(submission, wish.text)
    ratings, said = _ratings(evaluation) if evaluation is not None else ({}, {})
    slug = wish.key.removeprefix(f"{APART}-")
    slug = headline if slug in {RATING, POSITION} else slug
    values = _values(submission, slug) if slug else {}
    numbers = {RATING: ratings, POSITION: {}}.get(wish.key, values)
    if wish.key.startswith(f"{APART}-"):
        numbers = _apart(ratings, values, slug)
    if numbers:
        sign = 1 if wish.ascending else -1
        # the sign turns the numbers instead of `reverse`, which would also put those
        # without a number first and positions backwards
        positions.sort(key=lambda p: (p not in numbers, sign * numbers.get(p, 0.0), p))
    elif not wish.ascending:
        positions.reverse()
    found = Arranged(positions, ratings, values, slug, said)
    return replace(found, positions=_narrowed(submission, found, wish))


def _narrowed(submission: Submission, found: Arranged, wish: Wish) -> list[int]:
    positions = found.positions
    if wish.low is not None or wish.high is not None:
        low = -inf if wish.low is None else wish.low
        high = inf if wish.high is None else wish.high
        # rounded as on pages
        rounded = {p: round(rating, 1) for p, rating in found.ratings.items()}
        positions = [p for p in positions if p in rounded and low <= rounded[p] <= high]
    if wish.flagged:
        rows = Prediction.objects.filter(submission=submission, text__regex=r"^\s*$")
        empty = set(rows.values_list("instance__position", flat=True))
        positions = [p for p in positions if p in empty or found.boxes(p)]
    return positions


def _positions_with(submission: Submission, text: str) -> list[int]:
    rows = Prediction.objects.filter(submission=submission)
    if text:
        rows = rows.filter(
            Q(text__icontains=text) | Q(instance__instance_id__icontains=text)
        )
    ordered = rows.order_by("instance__position")
    return list(ordered.values_list("instance__position", flat=True))


def ratings_of(evaluation: HumanEvaluation) -> dict[int, float]:
    """Return each output's mean rating by position, on the ranking criterion."""
    return _ratings(evaluation)[0]


def _ratings(
    evaluation: HumanEvaluation,
) -> tuple[dict[int, float], dict[int, dict[str, list[float]]]]:
    ratings = system_ratings_of([evaluation.pk])
    said: dict[int, dict[str, list[float]]] = {}
    rows = (ratings["instance"], ratings["criterion"], ratings["value"])
    for instance, criterion, value in zip(*(row.tolist() for row in rows), strict=True):
        said.setdefault(int(instance), {}).setdefault(criterion, []).append(value)
    main = main_criterion(evaluation.task)
    unit = unit_for(evaluation.design, evaluation.campaign, main)
    means = {
        position: float(np.mean(unit.averaged(np.array(answers[main], float))))
        for position, answers in said.items()
        if main in answers
    }
    return means, said


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
    """Return the negative distance of people and a metric in ranks."""
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
