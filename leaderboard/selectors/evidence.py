"""The numbers of one submission, each with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from crowd.hit_templates.form import CHECKBOXES
from crowd.models import HITType, LedgerEntry
from crowd.scales.base import all_scales
from leaderboard.designs.error_spans import SPANS, SPANS_UNIT, WEIGHTS
from leaderboard.metrics.base import all_metrics
from leaderboard.models import HumanEvaluation, MetricResult, Score, Submission
from leaderboard.selectors.columns import MetricWords, metric_words
from leaderboard.selectors.sight import VisibleParts

_GONE = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)


@dataclass(frozen=True)
class MetricLine:
    """One automatic metric: the number, what it is, the signature to report."""

    words: MetricWords
    value: float
    signature: str
    computed_at: datetime


@dataclass(frozen=True)
class Judgement:
    """What people said on one criterion."""

    criterion: str
    question: str
    score: Score
    # the scale's answers, best first, with how many gave each
    counts: list[tuple[str, int]]

    @property
    def on_axis(self) -> bool:
        """Tell whether the score is one of those that share an axis."""
        return self.criterion != SPANS


@dataclass(frozen=True)
class Money:
    """What asking people costs, in cents; for the team and staff."""

    approved_cents: int
    spent_cents: int


def metric_lines(submission: Submission) -> list[MetricLine]:
    """Give the newest result of each metric, in the task's order."""
    newest = {
        result.metric: result
        for result in MetricResult.objects.filter(submission=submission)
        .defer("per_instance", "details")
        # later rows overwrite earlier ones in the dict, so that the newest result is
        # left
        .order_by("pk")
        if result.metric in all_metrics()
    }
    configured: list[str] = submission.task.config.get("metrics", {}).get("use", [])
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


def _position(order: list[str], slug: str) -> tuple[int, str]:
    return (order.index(slug) if slug in order else 0, slug)


def judgements(
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> list[Judgement]:
    """Give the current scores; before publication only to the team and staff."""
    if evaluation is None or not (submission.published_at or view.inner):
        return []
    hit_type = evaluation.campaign.hit_type
    # as workers saw them: criteria, then boxes to tick, then marked errors
    order = [*hit_type.criteria, *hit_type.form.get("checkboxes", ()), SPANS]
    scores = Score.objects.filter(
        evaluation=evaluation, superseded_at=None
    ).select_related("evaluation__campaign")
    shown_scores = [
        Judgement(
            criterion=score.criterion,
            question=_question(hit_type, score.criterion),
            score=score,
            counts=_span_counts(score.histogram)
            if score.criterion == SPANS
            else _counts(hit_type, score.histogram),
        )
        for score in scores
    ]
    return sorted(
        shown_scores, key=lambda j: (*_position(order, j.criterion), j.criterion)
    )


def _question(hit_type: HITType, criterion: str) -> str:
    if criterion == SPANS:
        taken = " and ".join(f"{-w:g} for each {name}" for name, w in WEIGHTS.items())
        return f"Marked errors: {taken} one; 0 is an output without errors."
    questions = {**CHECKBOXES, **hit_type.criteria}
    return str(questions.get(criterion, criterion))


def _span_counts(histogram: dict[str, int]) -> list[tuple[str, int]]:
    counts = sorted((float(value), int(n)) for value, n in histogram.items())
    worst = SPANS_UNIT.low
    return [
        (f"{value:g}" + (" or less" if value == worst else ""), n)
        for value, n in reversed(counts)
    ]


def _counts(hit_type: HITType, histogram: dict[str, int]) -> list[tuple[str, int]]:
    """Name the values by the scale's answers, also those that nobody gave."""
    counts = {float(value): int(n) for value, n in histogram.items()}
    scale = all_scales().get(hit_type.scale)
    names = {option.value: option.label for option in scale.options} if scale else {}
    values = sorted({*counts, *names}, reverse=True)
    return [(names.get(value, f"{value:g}"), counts.get(value, 0)) for value in values]


def money(
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> Money | None:
    """Give what was approved and what is spent; nothing to others, or before approval."""
    if not (view.inner and view.money) or submission.approved_cents is None:
        return None
    spent = 0
    if evaluation is not None:
        ledger = LedgerEntry.objects.filter(campaign_id=evaluation.campaign_id)
        # entries that were cancelled or failed moved no money
        total = ledger.exclude(state__in=_GONE).aggregate(cents=Sum("amount_cents"))
        spent = total["cents"] or 0
    return Money(approved_cents=submission.approved_cents, spent_cents=spent)
