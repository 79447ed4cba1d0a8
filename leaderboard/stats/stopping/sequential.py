"""Stop a comparison as soon as two systems differ significantly, and not before.

`Comparison` takes labels one at a time and never looks ahead: later labels cannot
change a decision.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

from genie.lib.interval import Interval
from leaderboard.stats.stopping.exact import ExactWalk, exact_walk
from leaderboard.stats.stopping.rules import (
    BetaMixture,
    ConfidenceRule,
    Hoeffding,
    NormalMixture,
    Stitched,
    StoppingRule,
    UnionBound,
)
from leaderboard.stats.stopping.sign_flips import SignFlips

__all__ = [
    "LABEL_RULES",
    "RULES",
    "BetaMixture",
    "Comparison",
    "ConfidenceRule",
    "Decision",
    "ExactWalk",
    "Hoeffding",
    "LiveRule",
    "NormalMixture",
    "Side",
    "SignFlips",
    "Stitched",
    "StoppingRule",
    "UnionBound",
    "exact_walk",
    "rule_named",
]

Side = Literal["A", "B", "undecided"]

#: The rules that treat labels as independent, in the order of the documentation.
LABEL_RULES: dict[str, type[ConfidenceRule]] = {
    rule.name: rule
    for rule in (BetaMixture, NormalMixture, Stitched, UnionBound, Hoeffding)
}
LiveRule = ConfidenceRule | SignFlips
#: The rules that can be used live, by name; the default is the first.
RULES: dict[str, type[ConfidenceRule] | type[SignFlips]] = {
    SignFlips.name: SignFlips,
    **LABEL_RULES,
}


def rule_named(name: str, delta: float = 0.001) -> LiveRule:
    """Return a rule by its name, with its usual settings.

    Parameters
    ----------
    name : str
        One of `RULES`.

    Examples
    --------
    >>> rule_named("normal-mixture", 0.01)
    NormalMixture(delta=0.01, rho=25.0)
    """
    return RULES[name](delta=delta)


@dataclass(frozen=True)
class Decision(Interval):
    """The conclusion from the labels up to `n` about two systems.

    The estimate is the mean label, P(A preferred) as observed; NaN without labels. The
    interval is within [0, 1]. After a decision the estimate tends to be too far from 1/2
    (one stops when it happens to be far); the interval of an anytime-valid rule keeps
    its coverage.

    Parameters
    ----------
    side : {"A", "B", "undecided"}
        The preferred system, if decided.
    n : int
        Labels used: up to the decision, or all so far.
    anytime_valid : bool
        Whether confidence and error hold although one looked after every label.
    """

    side: Side
    n: int
    anytime_valid: bool


class Comparison:
    """Labels of one comparison, taken one at a time, until the rule decides."""

    def __init__(self, rule: LiveRule) -> None:
        self.rule, self._series = rule, rule.series()
        self._n, self._total = 0, 0.0
        self._made: Decision | None = None

    def add(self, label: float, worker: Hashable = None) -> Decision:
        """Add one label and return the current decision.

        Parameters
        ----------
        label : float
            1 for A, 0 for B, 1/2 for a tie; anything between 0 and 1 is allowed.
        worker : hashable
            Who gave it; only `SignFlips` asks.

        Returns
        -------
        Decision
            The first decision is permanent.
        """
        self._take(label, worker)
        return self.decision

    def extend(
        self, labels: Iterable[float], workers: Iterable[Hashable] = repeat(None)
    ) -> Decision:
        """Add several labels in their order and return the current decision."""
        for label, worker in zip(labels, workers, strict=False):
            self._take(label, worker)
        return self.decision

    def _take(self, label: float, worker: Hashable) -> None:
        self._n += 1
        self._total += float(label)
        self._series.add(float(label), worker)
        # a decision is permanent: another look with more labels would be a second
        # chance to err
        if self._made is None and self._series.decides(self._n, self._total):
            self._made = self._describe("A" if self._total > self._n / 2 else "B")

    def _describe(self, side: Side) -> Decision:
        if self._n == 0:
            numbers = float("nan"), 0.0, 1.0
        else:
            low, high = self._series.interval(self._n, self._total)
            numbers = self._total / self._n, float(low), float(high)
        return Decision(*numbers, side, self._n, self.rule.anytime_valid)

    @property
    def decision(self) -> Decision:
        """The decision if it was made; before that, the estimate from all labels."""
        return self._describe("undecided") if self._made is None else self._made
