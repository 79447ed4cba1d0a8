"""The numbers of one submission, each with its evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from django.db.models import Q, Sum

from crowd.hit_templates.form import CHECKBOXES
from crowd.hits.models import HITType
from crowd.money.models import LedgerEntry
from crowd.scales.base import all_scales
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.version import KEPT_SECONDS, State
from leaderboard.designs.base import Beside, all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.system_ratings import system_ratings, unit_for
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metric_runs.selectors import MetricWords, metric_words
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import VisibleParts

# by position: the mean on the ranking criterion, and all answers by criterion
Ratings = tuple[dict[int, float], dict[int, dict[str, list[float]]]]
_GONE = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)


@dataclass(frozen=True)
class MetricLine:
    words: MetricWords
    value: float
    signature: str
    computed_at: datetime


@dataclass(frozen=True)
class Judgement:
    criterion: str
    question: str
    score: Score
    # the scale's answers, best first, with their counts
    counts: list[tuple[str, int]]
    # whether the score is on the shared axis
    on_axis: bool


@dataclass(frozen=True)
class Money:
    """The cost of people's answers in cents; for the team and staff."""

    approved_cents: int
    spent_cents: int


def metric_lines(submission: Submission) -> list[MetricLine]:
    newest = {
        result.metric: result
        for result in MetricResult.objects.filter(submission=submission)
        .defer("per_instance", "details")
        # later rows overwrite earlier ones in the dict, so that the newest result
        # remains
        .order_by("pk")
        if result.metric in all_metrics()
    }
    configured = submission.task.configuration.metrics.use
    ordered = sorted(
        newest, key=lambda m: (m not in configured, *_position(configured, m))
    )
    return [
        MetricLine(
            words=metric_words(slug),
            value=newest[slug].value,
            signature=newest[slug].signature,
            computed_at=newest[slug].computed_at,
        )
        for slug in ordered
    ]


def _position(order: Sequence[str], slug: str) -> tuple[int, str]:
    return (order.index(slug) if slug in order else 0, slug)


def judgements(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    view: VisibleParts,
    scores: Iterable[Score],
) -> list[Judgement]:
    """Return the current scores; before publication only to the team and staff."""
    if evaluation is None or not (submission.published_at or view.inner):
        return []
    hit_type = evaluation.campaign.hit_type
    design = all_designs().get(evaluation.design)
    beside = design.beside if design else {}
    # as workers saw them: criteria, then checkboxes, then derived scores
    order = [*hit_type.criteria, *hit_type.form.get("checkboxes", ()), *beside]
    scores = [score for score in scores if score.superseded_at is None]
    for score in scores:
        score.evaluation = evaluation  # with the campaigns that it has read
    shown_scores = [
        Judgement(
            criterion=score.criterion,
            question=_question(hit_type, beside, score.criterion),
            score=score,
            counts=_counts_beside(beside[score.criterion], score.histogram)
            if score.criterion in beside
            else _counts(hit_type, score.histogram),
            on_axis=score.criterion not in beside,
        )
        for score in scores
    ]
    return sorted(
        shown_scores, key=lambda j: (*_position(order, j.criterion), j.criterion)
    )


def _question(hit_type: HITType, beside: Mapping[str, Beside], criterion: str) -> str:
    if criterion in beside:
        return beside[criterion].explanation
    return str({**CHECKBOXES, **hit_type.criteria}.get(criterion, criterion))


def _counts_beside(beside: Beside, histogram: dict[str, int]) -> list[tuple[str, int]]:
    counts = sorted((float(value), int(n)) for value, n in histogram.items())
    worst = beside.unit.low
    return [
        (f"{value:g}" + (" or less" if value == worst else ""), n)
        for value, n in reversed(counts)
    ]


def _counts(hit_type: HITType, histogram: dict[str, int]) -> list[tuple[str, int]]:
    counts = {float(value): int(n) for value, n in histogram.items()}
    scale = all_scales().get(hit_type.scale)
    names = {option.value: option.label for option in scale.options} if scale else {}
    values = sorted({*counts, *names}, reverse=True)
    return [(names.get(value, f"{value:g}"), counts.get(value, 0)) for value in values]


def money(submission: Submission, view: VisibleParts) -> Money | None:
    """Return approved and spent cents; None for other viewers, or before approval."""
    asked = submission.human_evaluation
    if not (view.inner and view.money) or not asked or asked.approved_cents is None:
        return None
    ledger = LedgerEntry.objects.filter(campaign__in=asked.campaigns_in_order)
    # canceled or failed entries moved no money
    total = ledger.exclude(state__in=_GONE).aggregate(cents=Sum("amount_cents"))
    return Money(asked.approved_cents, total["cents"] or 0)


RATING, APART, POSITION = "rating", "disagreement", "order"
_LONGEST = 200


@dataclass(frozen=True)
class Wish:
    """A reader's filter and order; `usual` is the default, which addresses omit."""

    text: str = ""
    key: str = ""
    ascending: bool = True
    usual: str = ""

    def query(self) -> dict[str, str]:
        parts = {
            "q": self.text,
            "by": "" if self.key == self.usual else self.key or POSITION,
            "dir": "" if self.ascending else "desc",
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


def choices(metrics: Sequence[MetricLine], *, judged: bool) -> list[tuple[str, str]]:
    orders: list[tuple[str, str]] = []
    if judged:
        orders.append((RATING, "human rating"))
    orders.append((POSITION, "the task’s order"))
    if judged:
        orders += [
            (
                f"{APART}-{line.words.slug}",
                f"disagreement between raters and {line.words.label}",
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
        usual=known[0],
    )


def arrange_outputs(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    wish: Wish,
    headline: str = "",
    now: State | None = None,
) -> Arranged:
    """Return outputs in order, those without a number last, in the task's order.

    `evaluation` is None if ratings are hidden; `headline` is the default metric. Means
    of ratings are kept with the board's state `now`.
    """
    positions = _positions_with(submission, wish.text)
    # an import may have no texts, which the ratings would be shown with
    ratings, said = (
        _kept_ratings(evaluation, now) if evaluation and positions else ({}, {})
    )
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
    return Arranged(positions, ratings, values, slug, said)


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


def _kept_ratings(evaluation: HumanEvaluation, now: State | None) -> Ratings:
    if now is None:
        return _ratings(evaluation)
    key = now.key("ratings", f"{evaluation.pk}", f"{evaluation.system}")
    return computed_once(key, lambda: _ratings(evaluation), KEPT_SECONDS)


def _ratings(evaluation: HumanEvaluation) -> Ratings:
    ratings = system_ratings(evaluation)
    said: dict[int, dict[str, list[float]]] = {}
    rows = (ratings["instance"], ratings["criterion"], ratings["value"])
    for instance, criterion, value in zip(*(row.tolist() for row in rows), strict=True):
        said.setdefault(int(instance), {}).setdefault(criterion, []).append(value)
    main = main_criterion(evaluation.task)
    unit = unit_for(evaluation.design, evaluation.campaign, main)
    means = {
        position: float(np.mean(unit.to_averaged(np.array(answers[main], float))))
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
    ratings: dict[int, float], values: dict[int, float], slug: str
) -> dict[int, float]:
    from scipy.stats import rankdata

    judged = sorted(set(ratings) & set(values))
    if not judged:
        return {}
    down = -1.0 if metric_words(slug).better.startswith("lower") else 1.0
    # ranks, because ratings and metrics have different units and no common zero
    people = rankdata([ratings[p] for p in judged])
    gaps = -np.abs(people - rankdata([down * values[p] for p in judged]))
    return dict(zip(judged, gaps.tolist(), strict=True))
