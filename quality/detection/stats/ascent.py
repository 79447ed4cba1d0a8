"""Climb the likelihood of a beta-binomial mixture from many starts at once.

EM first, because it is robust to random starts; then damped Newton
steps on the very same log-likelihood, because EM gains less and less per step and stops
short of the maximum by its own tolerance.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats
from quality.detection.stats.likelihood import (
    Evaluation,
    Sample,
    evaluate,
    gradient_and_hessian,
)

#: Concentrations stay within [1e-6, 1e6]: the supremum often lies at infinity.
LOG_BOUND = float(np.log(1e6))
#: A logit beyond this is a mean or a weight within 1e-13 of 0 or 1.
LOGIT_BOUND = 30.0
# Coordinates are logits and logs: two units are far, and the quadratic approximation
# is poor beyond.
_LONGEST_STEP = 2.0
_LARGEST_FLOOR = 1e-10


@dataclass(frozen=True)
class Climb:
    """Where each start ended.

    Attributes
    ----------
    theta : ndarray, shape (n_restarts, 3, n_components)
        Logits of the means, logs of the concentrations, logits of the weights.
    value : ndarray, shape (n_restarts,)
        Log-likelihood reached.
    n_iterations : int
        EM and Newton iterations of the longest climb.
    converged : ndarray of bool, shape (n_restarts,)
        Whether the promised gain of a further step fell below the tolerance.
    """

    theta: Floats
    value: Floats
    n_iterations: int
    converged: npt.NDArray[np.bool_]


def bounds(n_components: int) -> Floats:
    """Return the largest size of each coordinate, shape (3, n_components).

    Examples
    --------
    >>> bounds(1).round(1).ravel().tolist()
    [30.0, 13.8, 30.0]
    """
    box = np.full((3, n_components), LOGIT_BOUND)
    box[1] = LOG_BOUND
    return box


def climb(
    sample: Sample,
    theta: Floats,
    *,
    max_iterations: int = 1_000,
    em_tolerance: float = 1e-3,
    tolerance: float = 1e-8,
) -> Climb:
    """Maximize the log-likelihood from every start.

    Parameters
    ----------
    theta : ndarray, shape (n_restarts, 3, n_components)
        Starts: logits of means, logs of concentrations, logits of weights.
    em_tolerance : float, default 1e-3
        EM ends when its relative gain falls below this.
    tolerance : float, default 1e-8
        A climb has converged when a Newton step promises a smaller gain, relative
        to 1 + 1e-3 |log-likelihood| (what double precision can still see).

    References
    ----------
    D. Khashabi et al., "Genie" (2022), appendix B.1. K. Lange, "A gradient algorithm
    locally equivalent to the EM algorithm", JRSS B 57 (1995), for Newton inside EM.
    J. Nocedal and S. Wright, "Numerical Optimization" (2006), section 3.4 (Hessians
    with corrected eigenvalues).

    Examples
    --------
    >>> from quality.counts import MergedCounts
    >>> from quality.detection.stats.likelihood import prepare
    >>> pairs = MergedCounts(np.array([2, 9]), np.array([10, 10]), np.array([5.0, 5]))
    >>> end = climb(prepare(pairs), np.zeros((1, 3, 1)))
    >>> bool(end.converged[0]), round(float(end.value[0]), 3)
    (True, -23.804)
    """
    theta = np.clip(theta, -bounds(theta.shape[2]), bounds(theta.shape[2]))
    theta, n_em = _expectation_maximisation(
        sample, theta, max(1, max_iterations // 2), em_tolerance
    )
    return _newton(sample, theta, n_em, max_iterations, tolerance)


def _expectation_maximisation(
    sample: Sample, theta: Floats, max_iterations: int, tolerance: float
) -> tuple[Floats, int]:
    """Do EM for all starts together; each M-step is one safeguarded Newton step."""
    before = np.full(len(theta), -np.inf)
    for iteration in range(max_iterations):
        at = evaluate(sample, theta)
        if np.all(at.value - before <= tolerance * (1 + np.abs(at.value))):
            return theta, iteration
        before = at.value
        theta = _m_step(sample, theta, at)
    return theta, max_iterations


def _m_step(sample: Sample, theta: Floats, at: Evaluation) -> Floats:
    responsibility = at.share * sample.weight
    mass = responsibility.sum(axis=2)
    slope = np.stack(
        [(responsibility * at.score_m).sum(2), (responsibility * at.score_c).sum(2)],
        axis=-1,
    )
    bend = np.empty((*mass.shape, 2, 2))
    bend[..., 0, 0] = (responsibility * at.curve_mm).sum(axis=2)
    bend[..., 1, 1] = (responsibility * at.curve_cc).sum(axis=2)
    bend[..., 0, 1] = bend[..., 1, 0] = (responsibility * at.curve_mc).sum(axis=2)
    step = _ascent_direction(slope, bend)
    limit = bounds(theta.shape[2])
    moved = theta.copy()
    moved[:, :2, :] += _shorten(step).transpose(0, 2, 1)
    # A weight of exactly 0 could never grow again.
    moved[:, 2, :] = np.log(np.maximum(mass / mass.sum(axis=1, keepdims=True), 1e-13))
    return np.clip(moved, -limit, limit)


def _ascent_direction(slope: Floats, bend: Floats) -> Floats:
    size, axes = np.linalg.eigh(-bend)
    size = np.abs(size)
    # Along a nearly flat direction the step would be unbounded.
    floor = np.maximum(_LARGEST_FLOOR * size[..., -1:], _LARGEST_FLOOR)
    size = np.maximum(size, floor)
    along = (axes.swapaxes(-1, -2) @ slope[..., None])[..., 0] / size
    direction: Floats = (axes @ along[..., None])[..., 0]
    return direction


def _shorten(step: Floats) -> Floats:
    longest = np.abs(step).max(axis=-1, keepdims=True)
    shortened: Floats = step * np.minimum(
        1.0, _LONGEST_STEP / np.maximum(longest, 1e-300)
    )
    return shortened


def _newton(
    sample: Sample, theta: Floats, n_done: int, max_iterations: int, tolerance: float
) -> Climb:
    n_restarts, _, k = theta.shape
    box = bounds(k).ravel()
    final = theta.copy()
    value = np.full(n_restarts, -np.inf)
    converged = np.zeros(n_restarts, dtype=bool)
    climbing = np.arange(n_restarts)
    at = evaluate(sample, theta)
    iteration = n_done
    while True:
        value[climbing], final[climbing] = at.value, theta
        slope, bend = gradient_and_hessian(sample, theta, at)
        slope, bend = _hold_at_walls(theta.reshape(-1, 3 * k), slope, bend, box)
        step = _ascent_direction(slope, bend)
        gain = (slope * step).sum(axis=1)
        done = gain <= tolerance * (1 + 1e-3 * np.abs(at.value))
        converged[climbing[done]] = True
        if done.all() or iteration >= max_iterations:
            return Climb(final, value, iteration, converged)
        # Converged starts are left out of the next evaluation, which is the
        # expensive part.
        go = ~done
        climbing, theta, before = climbing[go], theta[go], at.value[go]
        theta, at, moved = _line_search(
            sample, theta, before, _shorten(step[go]), (slope[go], box)
        )
        iteration += 1
        if not moved.any():
            # no start can improve within double precision
            value[climbing], final[climbing] = at.value, theta
            converged[climbing] = gain[go] <= 1e-4
            return Climb(final, value, iteration, converged)


def _hold_at_walls(
    theta: Floats, slope: Floats, bend: Floats, box: Floats
) -> tuple[Floats, Floats]:
    held = ((theta >= box) & (slope > 0)) | ((theta <= -box) & (slope < 0))
    slope = np.where(held, 0.0, slope)
    bend = np.where(held[:, :, None] | held[:, None, :], 0.0, bend)
    rows, axis = np.nonzero(held)
    # The diagonal keeps the matrix invertible; with a slope of 0 the step along
    # it is 0.
    bend[rows, axis, axis] = -1.0
    return slope, bend


def _line_search(
    sample: Sample,
    theta: Floats,
    before: Floats,
    step: Floats,
    uphill: tuple[Floats, Floats],
) -> tuple[Floats, Evaluation, npt.NDArray[np.bool_]]:
    """Shorten the steps of those starts that would not go up."""
    slope, box = uphill
    flat = theta.reshape(len(theta), -1)
    scale = np.ones(len(theta))
    # At a maximum, rounding alone may lower the value a little.
    slack = 1e-10 * (1 + np.abs(before))
    for _ in range(30):
        trial = np.clip(flat + scale[:, None] * step, -box, box)
        at = evaluate(sample, trial.reshape(theta.shape))
        # Armijo's condition: a step must gain a fair share of what the slope promises.
        needed = before + 1e-4 * ((trial - flat) * slope).sum(axis=1) - slack
        failed = ~(at.value >= needed) & (scale > 0)
        if not failed.any():
            break
        scale = np.where(failed, np.where(scale < 1e-6, 0.0, scale / 4), scale)
    return trial.reshape(theta.shape), at, scale > 0
