"""Which verdicts of a fit are kept: those that say something new of a worker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quality.bans.services.held_exclusions import decided_workers
from quality.detection.models import DetectorFit, Verdict
from quality.detection.selectors import last_verdicts

# A probability that moved less than this since the kept verdict says nothing new.
TOLERANCE = 0.01


def posteriors(verdicts: Iterable[Verdict]) -> list[list[float | int | bool]]:
    """List what a fit says of each pair of counts, in order."""
    outcome_of = {(v.n_correct, v.n_questions): (v.p_noisy, v.noisy) for v in verdicts}
    return [[*counts, *outcome] for counts, outcome in sorted(outcome_of.items())]


def changed(fit: DetectorFit, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Select the verdicts to keep.

    These are the ones of workers with other counts, another outcome, threshold or
    probability than in their last kept verdict, and of noisy workers whom nobody has
    decided on yet. One at least is kept: `verdicts_of` needs it to know a fit's workers.
    """
    last = last_verdicts(fit)
    decided = decided_workers(fit.pool)
    new = [
        verdict
        for verdict in verdicts
        if (verdict.noisy and verdict.worker_id not in decided)
        or verdict.worker_id not in last
        or _differ(verdict, last[verdict.worker_id])
    ]
    return new or list(verdicts[:1])


def _differ(new: Verdict, old: Verdict) -> bool:
    same = ("n_correct", "n_questions", "noisy", "threshold")
    return (
        any(getattr(new, name) != getattr(old, name) for name in same)
        or abs(new.p_noisy - old.p_noisy) > TOLERANCE
    )
