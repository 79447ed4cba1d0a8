"""Detectors of noisy workers: Genie's eight, and one that corrects their errors.

A detector is a prior over workers' rates of right answers (a beta mixture, fixed or
learned from the pool) and a criterion: ``rate`` (the worker's rate lies below a
threshold) or ``class`` (the worker does not belong to the component with the highest
mean). Its answer is a posterior probability; a flag is a comparison.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quality.counts import Floats, as_counts
from quality.detection.stats.beta_mixture import BetaMixture
from quality.detection.stats.detector_specs import (
    DEFAULT_DETECTOR,
    DETECTORS,
    PAPER_DETECTORS,
    DetectorSpec,
)
from quality.detection.stats.fitted_detector import Bools, FittedDetector, flag
from quality.detection.stats.mixture import GENIE_PSEUDO_WORKERS, Fit, fit

__all__ = [
    "DEFAULT_DETECTOR",
    "DETECTORS",
    "PAPER_DETECTORS",
    "Detection",
    "DetectorSpec",
    "FittedDetector",
    "detect",
    "fit_detector",
    "flag",
    "guard",
    "with_fit",
]


@dataclass(frozen=True)
class Detection:
    """A detector's result for a pool of workers.

    Attributes
    ----------
    p_noisy : ndarray of float64, shape (n_workers,)
        Posterior probability that each worker is noisy.
    flagged : ndarray of bool, shape (n_workers,)
        The comparison with the threshold.
    fitted : FittedDetector
        For more workers, or for one worker's path.
    parameters : dict
        All inputs of the decision, JSON-serializable: thresholds, seed, the prior.
    """

    p_noisy: Floats
    flagged: Bools
    detector: str
    fitted: FittedDetector
    parameters: dict[str, Any]


def guard(mixture: BetaMixture, n_observed: int) -> BetaMixture:
    """Add one imaginary worker with an unknown rate to a learned prior.

    A likelihood maximum is often a class without width, and then 80 of 100 right
    counts as a chance deviation from .97. A uniform component of one worker's weight
    keeps every rate possible.

    Parameters
    ----------
    n_observed : int
        Workers and pseudo-workers it was learned from, >= 0.

    Returns
    -------
    BetaMixture
        With one more component, Beta(1, 1), of weight 1 / (n_observed + 1).
    """
    kept = n_observed / (n_observed + 1)
    return BetaMixture(
        (*(kept * weight for weight in mixture.weights), 1 - kept),
        (*mixture.alphas, 1.0),
        (*mixture.betas, 1.0),
    )


def fit_detector(
    correct: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    detector: str = DEFAULT_DETECTOR,
    threshold_rate: float = 0.9,
    seed: int = 0,
    n_restarts: int = 10,
    pseudo: tuple[tuple[int, int], ...] = GENIE_PSEUDO_WORKERS,
) -> FittedDetector:
    """Return a detector with its prior, learned from the pool unless it is fixed.

    Parameters
    ----------
    correct, n : array_like of int, shape (n_workers,)
        Right answers and answered questions of the pool; may be empty.
    detector : str, default DEFAULT_DETECTOR
        A slug of :data:`DETECTORS`.
    threshold_rate : float, default 0.9
        Workers below this rate of right answers are noisy, 0 < threshold_rate < 1.

    Raises
    ------
    quality.detection.stats.mixture.ConvergenceError
        If no restart of the fit reached a maximum.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), section 5 and appendix B.1.
    """
    spec = DETECTORS.get(detector)
    if spec is None:
        known = ", ".join(DETECTORS)
        raise ValueError(f"There is no detector {detector!r}. Choose from: {known}.")
    if not 0 < threshold_rate < 1:
        raise ValueError(
            f"The threshold rate must be between 0 and 1: {threshold_rate}."
        )
    if spec.prior is not None:
        return FittedDetector(spec, spec.prior, threshold_rate)
    learned = fit(
        correct, n, k=spec.n_components, seed=seed, n_restarts=n_restarts, pseudo=pseudo
    )
    return with_fit(learned, detector=detector, threshold_rate=threshold_rate)


def with_fit(
    learned: Fit, *, detector: str = DEFAULT_DETECTOR, threshold_rate: float = 0.9
) -> FittedDetector:
    """Build a detector from an existing fit, so that detectors can share it.

    Parameters
    ----------
    learned : Fit
        A fit with as many components as the detector has.
    """
    spec = DETECTORS[detector]
    mixture = learned.mixture
    if spec.guarded:
        mixture = guard(mixture, learned.n_workers + learned.n_pseudo)
    return FittedDetector(spec, mixture, threshold_rate, learned)


def detect(
    correct: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    detector: str = DEFAULT_DETECTOR,
    threshold_rate: float = 0.9,
    threshold_posterior: float = 0.99,
    inclusive: bool = False,
    seed: int = 0,
    n_restarts: int = 10,
    pseudo: tuple[tuple[int, int], ...] = GENIE_PSEUDO_WORKERS,
) -> Detection:
    """Detect the noisy workers of a pool by their answers to test questions.

    Parameters
    ----------
    correct, n : array_like of int, shape (n_workers,)
        Right answers and answered test questions of each worker; may be empty.
    detector : str, default DEFAULT_DETECTOR
        A slug of :data:`DETECTORS`.
    threshold_posterior : float, default 0.99
        Flag a worker when P(noisy) is greater.
    inclusive : bool, default False
        Flag at the threshold too.
    pseudo : tuple of (int, int), default GENIE_PSEUDO_WORKERS
        (right, asked) of imaginary workers for the fit.

    Raises
    ------
    quality.detection.stats.mixture.ConvergenceError
        If no restart of the fit reached a maximum.

    References
    ----------
    D. Khashabi et al., "Genie" (EMNLP 2022), section 5 and appendix B.
    """
    x, m = (np.atleast_1d(counts) for counts in as_counts(correct, n))
    flag([], threshold_posterior)  # Refuse a bad threshold before the fit.
    fitted = fit_detector(
        x,
        m,
        detector=detector,
        threshold_rate=threshold_rate,
        seed=seed,
        n_restarts=n_restarts,
        pseudo=pseudo,
    )
    p_noisy = fitted.p_noisy(x, m)
    parameters: dict[str, Any] = {
        "detector": detector,
        "criterion": fitted.spec.criterion,
        "threshold_rate": threshold_rate,
        "threshold_posterior": threshold_posterior,
        "inclusive": inclusive,
        "seed": seed,
        "n_restarts": n_restarts,
        "n_pseudo": len(pseudo) if fitted.fit else 0,
        "prior": fitted.mixture.to_dict(),
    }
    flagged = flag(p_noisy, threshold_posterior, inclusive=inclusive)
    return Detection(p_noisy, flagged, detector, fitted, parameters)
