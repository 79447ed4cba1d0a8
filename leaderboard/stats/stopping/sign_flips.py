"""A stopping rule over workers: exchange the systems for whole workers at random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from leaderboard.stats.stopping.rules import BetaMixture, Floats, Rule

_HALF_BY = 200  # labels by which half of the error may have been spent
_TOLERANCE = 1e-9
TYPICAL_SD = 0.6  # of workers' log-odds


@dataclass(frozen=True)
class SignFlips(Rule):
    """A sequential randomization test over workers.

    Null hypothesis: mirroring all labels of a worker (1 - label) changes no
    probability, worker by worker. So it is if workers' log-odds are independent draws
    symmetric around 0, however many labels each gives. Any pattern of mirrored workers
    from a group of patterns is then as likely as the series itself, all labels of all
    workers but for the pattern being given. After n labels the patterns whose shares
    are farthest from 1/2 are removed for good: 2 delta n / (n + 200) of all by then,
    ties only together. The series decides when it is removed itself. As the removal
    treats all patterns alike, the chance is at most 2 delta, however often one looks.

    References
    ----------
    Lan and DeMets (1983), Biometrika 70(3) (spending the error); Hemerik and Goeman
    (2018), TEST 27(4), theorem 1 (a group of sign flips is exact).
    """

    name: ClassVar[str] = "worker-sign-flips"
    anytime_valid: ClassVar[bool] = True
    over_workers: ClassVar[bool] = True

    def series(
        self, labels: Iterable[float] = (), workers: Iterable[Hashable] = ()
    ) -> Flips:
        return Flips(self, labels, workers)

    def spent(self, n: int) -> float:
        return 2 * self.delta * n / (n + _HALF_BY)

    def fewest_workers(self, n: int) -> int:
        """Return the number of workers who can decide within `n` labels by agreeing."""
        return math.ceil(1 - math.log2(self.spent(n)))

    def power(self, share: float, n: int, n_workers: int) -> float:
        """Return roughly (to .1, simulated) the chance to decide within `n` labels."""
        from scipy import special

        variance = share * (1 - share)
        error = math.hypot(
            (variance / n) ** 0.5, TYPICAL_SD * variance / n_workers**0.5
        )
        # a third of the error is spent about the last looks
        reach = special.stdtrit(n_workers - 1, self.spent(n) / 6)
        enough = n_workers >= self.fewest_workers(n)
        return float(special.ndtr(abs(share - 0.5) / error + reach)) * enough


class Flips:
    """The sums of all patterns, of which the first mirrors no worker."""

    def __init__(
        self,
        rule: SignFlips,
        labels: Iterable[float] = (),
        workers: Iterable[Hashable] = (),
    ) -> None:
        n_bits = math.ceil(math.log2(max(2_000, 10 / rule.delta)))
        self.rule, self.margins = rule, [0.0]
        self._patterns = np.arange(2**n_bits)
        # the first workers are mirrored independently, later ones as good as so
        later = np.random.default_rng(0).permutation(self._patterns[1:])
        self._codes = itertools.chain(2 ** np.arange(n_bits), itertools.cycle(later))
        self._signs: dict[Hashable, Floats] = {}
        self._sums = np.zeros(2**n_bits)
        self.remain = np.ones(2**n_bits, dtype=bool)
        for label, worker in zip(labels, workers, strict=True):
            self.add(label, worker)

    def add(self, label: float, worker: Hashable) -> None:
        if worker not in self._signs:
            mirrored = np.bitwise_count(self._patterns & next(self._codes)) % 2
            self._signs[worker] = 1.0 - 2.0 * mirrored
        self._sums += self._signs[worker] * (label - 0.5)
        sizes = np.abs(self._sums) * self.remain
        # as many as may be removed now; removed ones have no size
        spent = int(self.rule.spent(len(self.margins)) * len(sizes) + _TOLERANCE)
        n = spent - int((~self.remain).sum())
        self.margins.append(
            float(np.partition(sizes, -1 - n)[-1 - n] if n else sizes.max())
        )
        self.remain &= sizes <= self.margins[-1] + _TOLERANCE

    def decides(self, n: int, total: float) -> bool:
        return not self.remain[0]

    def interval(self, n: npt.ArrayLike, total: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the shares of n labels plus and minus the largest that remains.

        Before the decision few workers make copies too similar: then the interval is
        at least that of the beta mixture.
        """
        count, sums = np.asarray(n), np.asarray(total)
        margin = np.array(self.margins)[count]
        low, high = BetaMixture(self.rule.delta).interval(count, sums)
        is_over = np.abs(sums - count / 2) > margin + _TOLERANCE
        return (
            np.clip((sums - margin) / count, 0, np.where(is_over, 1, low)),
            np.clip((sums + margin) / count, np.where(is_over, 0, high), 1),
        )

    def labels_to_decide(self) -> int | None:
        """Return the labels at which the same workers decide by going on as before."""
        ahead = np.abs(self._sums) >= abs(self._sums[0]) - _TOLERANCE
        share = float((ahead | ~self.remain).mean()) / (2 * self.rule.delta)
        n = math.ceil(_HALF_BY * share / (1 - share)) if share < 1 else None
        return n and max(n, len(self.margins) - 1)
