"""A detector with its prior in place: posteriors for any counts, answer by answer."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats
from quality.detection.stats.beta_mixture import BetaMixture
from quality.detection.stats.detector_specs import DetectorSpec
from quality.detection.stats.mixture import Fit

Bools = npt.NDArray[np.bool_]

#: Posteriors closer to the threshold than this count as equal to it: 0 of 1 right under
#: a uniform prior is .99 exactly, whatever the last bit of the incomplete beta says.
_TIE = 1e-12

#: The guard's presumption of innocence: nobody starts with worse than even odds.
LARGEST_PRIOR_NOISY = 0.5


def flag(
    p_noisy: npt.ArrayLike,
    threshold_posterior: float = 0.99,
    *,
    inclusive: bool = False,
) -> Bools:
    """Compare posteriors with the threshold.

    Parameters
    ----------
    p_noisy : array_like of float
        Probabilities.
    threshold_posterior : float, default 0.99
        0 < threshold_posterior <= 1.
    inclusive : bool, default False
        Flag at the threshold too. Genie's section 5 says "at least 99%", its appendix
        B.1 "more than"; we follow the appendix.

    Returns
    -------
    ndarray of bool
        Where the worker is flagged.

    Raises
    ------
    ValueError
        When a posterior or the threshold is no probability.

    Examples
    --------
    >>> flag([0.5, 0.99, 0.999]).tolist(), flag(0.99, inclusive=True).tolist()
    ([False, False, True], True)
    """
    if not 0 < threshold_posterior <= 1:
        raise ValueError(
            f"The threshold of the posterior must be in (0, 1]: {threshold_posterior}."
        )
    probabilities = np.asarray(p_noisy, dtype=np.float64)
    if not ((probabilities >= 0) & (probabilities <= 1 + _TIE)).all():
        raise ValueError("A posterior must be a probability.")
    if inclusive:
        return np.asarray(probabilities >= threshold_posterior - _TIE)
    return np.asarray(probabilities > threshold_posterior + _TIE)


@dataclass(frozen=True)
class FittedDetector:
    """A detector with its prior in place, ready to judge any counts.

    Attributes
    ----------
    spec : DetectorSpec
        Which detector.
    mixture : BetaMixture
        The prior it uses.
    threshold_rate : float
        Rate of right answers below which a worker is noisy (``rate`` only).
    fit : Fit or None
        How the prior was learned; None for a fixed prior.
    """

    spec: DetectorSpec
    mixture: BetaMixture
    threshold_rate: float
    fit: Fit | None = None

    def p_noisy(self, correct: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """Posterior probability that workers with these counts are noisy.

        Parameters
        ----------
        correct, n : array_like of int
            Right answers and answered questions, 0 <= correct <= n.

        Returns
        -------
        ndarray of float64, shape of the counts
            Probabilities; with no questions answered it is the prior's.

        Raises
        ------
        ValueError
            When the counts are not counts.

        References
        ----------
        D. Khashabi et al., "Genie" (EMNLP 2022), section 5.

        Examples
        --------
        >>> from quality.detection.stats.detectors import fit_detector
        >>> fixed = fit_detector([], [], detector="class-fixed-2")
        >>> fixed.p_noisy([0, 0, 0], [0, 1, 2]).round(3).tolist()
        [0.05, 0.486, 0.864]
        """
        if self.spec.criterion == "class":
            shares = self.mixture.posterior_class(correct, n)
            others: Floats = np.delete(shares, self.mixture.regular_class, axis=-1)
            other: Floats = np.minimum(others.sum(axis=-1), 1.0)
            return other
        below, above = self.mixture.posterior_tails(correct, n, self.threshold_rate)
        if self.spec.guarded:
            below = below * self._discount()
        noisy: Floats = below / (below + above)
        return noisy

    def _discount(self) -> float:
        """Factor on the odds that brings the prior down to even odds at most."""
        below, above = self.mixture.posterior_tails(0, 0, self.threshold_rate)
        cap = LARGEST_PRIOR_NOISY / (1 - LARGEST_PRIOR_NOISY)
        return min(1.0, cap * float(above) / float(below)) if below > 0 else 1.0
