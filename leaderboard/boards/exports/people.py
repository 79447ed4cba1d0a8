"""Fields on raters that Every Eval Ever lacks: our proposed extension, version 0.1.

docs/every-eval-ever-people.md describes it, docs/every-eval-ever-people.schema.json is
its schema. It is in `metric_config.human_scoring`, beside the schema's `llm_scoring`.
"""

from typing import Any

from leaderboard.boards.selectors.certainty import Agreement
from leaderboard.boards.selectors.judged import Instrument, Raters
from leaderboard.boards.selectors.rows import Human
from leaderboard.evaluation.selectors.worker_figures import WorkerFigures


def human_scoring(
    raters: Raters,
    human: Human,
    criterion: str,
    agreement: Agreement | None,
    *,
    simulated: bool,
    imported: bool,
) -> dict[str, Any]:
    """Return a score's raters, pay, agreement and question.

    Unknown values, and those that would identify raters, are null and never 0: for
    imported ratings, recruitment and pay.
    """
    figures = raters.figures
    ours = not (simulated or imported)
    return {
        "extension": "people-0.1",
        "raters": {
            "kind": "simulated" if simulated else "people",
            "n": human.n_workers,
            "n_excluded": None if imported else figures.n_excluded,
            "recruited_from": [] if imported else list(raters.platforms),
            "languages": [] if imported else list(figures.languages),
            "effective_n": human.effective_workers,
            "largest_share": human.largest_share,
        },
        "pay": _pay(figures) if ours and figures.highest_reward_cents else None,
        "agreement": _agreement(agreement),
        "interval_covers": human.covers,
        "instrument": _instrument(raters.instrument, criterion),
        "quality_control": None
        if imported or not (simulated or figures.highest_reward_cents)
        else {
            "test_questions_answered": figures.n_asked,
            "answered_wrongly": figures.n_wrong,
            "assignments_rejected": figures.n_rejected,
        },
        "provisional": human.provisional,
    }


def _pay(figures: WorkerFigures) -> dict[str, Any]:
    # pay is meaningless at a pace at which the texts cannot have been read
    hourly = None if figures.faster_than_reading else figures.hourly_cents
    return {
        "currency": "USD",
        "per_assignment": figures.reward_cents / 100,
        "per_assignment_highest": figures.highest_reward_cents / 100,
        "n_assignments": figures.n_assignments,
        "median_seconds": figures.median_seconds,
        "per_hour": None if hourly is None else hourly / 100,
        "paid_in_total": figures.paid_cents / 100,
        "platform_fees": figures.fee_cents / 100,
    }


def _agreement(found: Agreement | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "coefficient": "krippendorff-alpha",
        "level": found.level,
        "value": found.alpha,
        "lower": found.low,
        "upper": found.high,
        "confidence_level": 0.95,
        "n_outputs": found.n_outputs,
        "of": "all systems of the task",
    }


def _instrument(found: Instrument, criterion: str) -> dict[str, Any]:
    return {
        "question": found.questions.get(criterion, criterion),
        "design": found.design,
        "scale": found.scale,
        "options": list(found.options),
        "shown_beside_the_output": list(found.shown),
        "ratings_per_output": found.ratings_per_output,
    }
