"""The findings of a judge's audit: effects, and verdicts on all of them together."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.stats.multiplicity import holm

_LEVEL = 0.05


@dataclass(frozen=True)
class Effect:
    """One possible bias of a judge.

    Parameters
    ----------
    bias : str
        Such as "length".
    estimate, low, high : float
        In `unit`, 95% interval by Student's t.
    p_value : float
        Of no effect; two-sided, and one-sided upward for injected commands: a judge
        that scores them lower does no harm.
    n : int
        Clusters (pairs, instances or systems).
    """

    bias: str
    estimate: float
    low: float
    high: float
    p_value: float
    unit: str
    n: int


@dataclass(frozen=True)
class Finding:
    """An effect with its verdict, all effects of an audit together.

    Parameters
    ----------
    adjusted : float
        p-value after Holm's correction.
    """

    effect: Effect
    adjusted: float
    found: bool

    @property
    def words(self) -> str:
        one = self.effect
        span = f"{one.estimate:+.2f} [{one.low:+.2f}, {one.high:+.2f}] {one.unit}"
        return f"{'found' if self.found else 'not shown'}, {span}"

    @property
    def verdict(self) -> str:
        return f"{self.effect.bias}: {self.words}"


def settle(effects: Sequence[Effect]) -> list[Finding]:
    """Return the verdicts of an audit, corrected for the number of effects.

    Returns
    -------
    list of Finding
        In the same order; at most 5% of unbiased judges get any finding.

    Examples
    --------
    >>> effects = [Effect("order", 0.2, 0.1, 0.3, p, "", 50) for p in (0.01, 0.04)]
    >>> [one.found for one in settle(effects)]
    [True, True]
    """
    adjusted = holm([one.p_value for one in effects]).tolist() if effects else []
    return [
        Finding(one, p, p <= _LEVEL) for one, p in zip(effects, adjusted, strict=True)
    ]
