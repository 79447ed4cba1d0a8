"""A detector with its prior: posteriors for any counts, answer by answer."""

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

#: The guard's presumption of innocence: no prior is worse than even odds.
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
    inclusive : bool, default False
        Flag at the threshold too. Genie's section 5 says "at least 99%", its appendix
        B.1 "more than"; Genie follows the appendix.

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
    if inclusive:
        return np.asarray(probabilities >= threshold_posterior - _TIE)
    return np.asarray(probabilities > threshold_posterior + _TIE)


@dataclass(frozen=True)
class FittedDetector:
    """A detector with its prior, for any counts.

    Attributes
    ----------
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
        """Compute the posterior probability that workers with these counts are noisy.

        Returns
        -------
        ndarray of float64, shape of the counts
            Probabilities; with no questions answered it is the prior's.

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
        return below / (below + above)

    def _discount(self) -> float:
        """Return the factor on the odds that limits the prior to even odds."""
        below, above = self.mixture.posterior_tails(0, 0, self.threshold_rate)
        cap = LARGEST_PRIOR_NOISY / (1 - LARGEST_PRIOR_NOISY)
        return min(1.0, cap * float(above) / float(below)) if below > 0 else 1.0
