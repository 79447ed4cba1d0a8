"""The numbers of one submission, each with its evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from crowd.hit_templates.form import CHECKBOXES
from crowd.hits.models import HITType
from crowd.money.models import LedgerEntry
from crowd.scales.find import all_scales
from leaderboard.designs.base import Beside, all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metric_runs.selectors import MetricWords, metric_words
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import VisibleParts

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
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> list[Judgement]:
    """Return the current scores; before publication only to the team and staff."""
    if evaluation is None or not (submission.published_at or view.inner):
        return []
    hit_type = evaluation.campaign.hit_type
    design = all_designs().get(evaluation.design)
    beside = design.beside if design else {}
    # as workers saw them: criteria, then checkboxes, then derived scores
    order = [*hit_type.criteria, *hit_type.form.get("checkboxes", ()), *beside]
    scores = Score.objects.filter(evaluation=evaluation, superseded_at=None)
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
    questions = {**CHECKBOXES, **hit_type.criteria}
    return str(questions.get(criterion, criterion))


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


def money(
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> Money | None:
    """Return approved and spent cents; None for other viewers, or before approval."""
    if not (view.inner and view.money) or submission.approved_cents is None:
        return None
    spent = 0
    if evaluation is not None:
        ledger = LedgerEntry.objects.filter(campaign=evaluation.campaign)
        # canceled or failed entries moved no money
        total = ledger.exclude(state__in=_GONE).aggregate(cents=Sum("amount_cents"))
        spent = total["cents"] or 0
    return Money(approved_cents=submission.approved_cents, spent_cents=spent)
