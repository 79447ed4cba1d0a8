"""Stop a comparison as soon as two systems differ significantly, and not before.

`Comparison` takes labels one at a time and never looks ahead: later labels cannot
change a decision.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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

__all__ = [
    "DEFAULT_DELTA",
    "RULES",
    "BetaMixture",
    "Comparison",
    "ConfidenceRule",
    "Decision",
    "ExactWalk",
    "Hoeffding",
    "NormalMixture",
    "Side",
    "Stitched",
    "StoppingRule",
    "UnionBound",
    "default_rule",
    "exact_walk",
    "rule_named",
]

Side = Literal["A", "B", "undecided"]

DEFAULT_DELTA = 0.001
#: The rules that can be used live, by name, in the order of the documentation.
RULES: dict[str, type[ConfidenceRule]] = {
    rule.name: rule
    for rule in (BetaMixture, NormalMixture, Stitched, UnionBound, Hoeffding)
}


def default_rule(delta: float = DEFAULT_DELTA) -> ConfidenceRule:
    """Return the recommended rule.

    Returns
    -------
    ConfidenceRule
        The beta mixture with Beta(10, 10): valid at any time, and among `RULES` the
        valid one that needs the fewest labels for preferences of 57 to 90% (exactly
        computed, delta .001). Nearer to 1/2 it costs up to a tenth more than the normal
        mixture, with near agreement up to two labels more than the stitched rule.

    Examples
    --------
    >>> default_rule(), default_rule().anytime_valid
    (BetaMixture(delta=0.001, a=10.0, b=10.0), True)
    """
    return BetaMixture(delta=delta)


def rule_named(name: str, delta: float = DEFAULT_DELTA) -> ConfidenceRule:
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
    if name not in RULES:
        raise ValueError(f"No rule is called {name!r}; there are {', '.join(RULES)}.")
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
    """Labels of one comparison, taken one at a time, until the rule decides.

    Notes
    -----
    The rules assume that, given the past, each label has a mean of P(A preferred). This
    holds for instances drawn at random and labeled by workers drawn at random; workers
    may differ in skill and instances in difficulty. It does not hold if easy instances
    come first, or if one worker labels everything and the question is about workers
    in general: then the result is about that worker.

    Examples
    --------
    >>> comparison = Comparison(default_rule(delta=0.01))
    >>> comparison.extend([1] * 17).side
    'undecided'
    >>> comparison.add(1).side, comparison.decision.n
    ('A', 18)
    >>> comparison.extend([0] * 100).n  # late labels do not move the decision
    18
    >>> comparison.so_far.n, comparison.so_far.side
    (118, 'A')
    """

    def __init__(self, rule: ConfidenceRule | None = None) -> None:
        self.rule = default_rule() if rule is None else rule
        self._n = 0
        self._total = 0.0
        self._made: Decision | None = None

    def add(self, label: float) -> Decision:
        """Add one label and return the current decision.

        Parameters
        ----------
        label : float
            1 for A, 0 for B, 1/2 for a tie; anything between 0 and 1 is allowed.

        Returns
        -------
        Decision
            The first decision is permanent.

        Raises
        ------
        ValueError
            If the label is not a number between 0 and 1; then it is not added.
        """
        self._take(label)
        return self.decision

    def extend(self, labels: Iterable[float]) -> Decision:
        """Add several labels in their order and return the current decision."""
        for label in labels:
            self._take(label)
        return self.decision

    def _take(self, label: float) -> None:
        if not 0 <= label <= 1:
            raise ValueError(f"A label lies between 0 (B) and 1 (A), not {label}.")
        self._n += 1
        self._total += float(label)
        # a decision is permanent: another look with more labels would be a second
        # chance to err
        if self._made is None:
            side = self._side_now()
            if side != "undecided":
                self._made = self._describe(side)

    def _side_now(self) -> Side:
        if bool(self.rule.favours_a(self._n, self._total)):
            return "A"
        return "B" if bool(self.rule.favours_b(self._n, self._total)) else "undecided"

    def _describe(self, side: Side) -> Decision:
        if self._n == 0:
            numbers = float("nan"), 0.0, 1.0
        else:
            low, high = self.rule.interval(self._n, self._total)
            numbers = self._total / self._n, float(low), float(high)
        return Decision(*numbers, side, self._n, self.rule.anytime_valid)

    @property
    def decision(self) -> Decision:
        """The decision if it was made; before that, the estimate from all labels."""
        return self._describe("undecided") if self._made is None else self._made

    @property
    def so_far(self) -> Decision:
        """Estimate and interval from all labels, with the side decided earlier."""
        return self._describe("undecided" if self._made is None else self._made.side)
