"""People on some instances, a metric on all: a mean with fewer human labels.

The metric is never believed. It says how the judged instances differ from the rest, and
people's mean is corrected by as much of that as the metric has proved to know, which may
be nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import (
    COVERS_INSTANCES,
    Interval,
    as_ratings,
    check_confidence,
)
from leaderboard.stats.resampling import Floats

Target = Literal["population", "test-set"]
_COVERS = {
    "population": COVERS_INSTANCES,
    "test-set": (
        "which instances of this test set were rated, for this crowd of workers; "
        "another crowd may differ by more"
    ),
}


@dataclass(frozen=True)
class PredictionPowered:
    """The plain estimate, and the one that a metric helps; shown together.

    Parameters
    ----------
    powered : Interval
        With the metric's help.
    plain : Interval
        From people's ratings alone, by the same method.
    weights : ndarray, shape (k,)
        By how much the estimate moves for one unit by which each metric's mean on the
        other instances exceeds that on the judged ones; 0 when it knows nothing.
    correlation : float
        Of people with the weighted metrics on the judged instances; NaN if one of them
        does not vary.
    n_labelled, n_unlabelled : int
        Instances that people judged, and did not.
    labels_saved : float
        How many more plain labels the same precision would have cost; negative when
        the metric does not pay for its own uncertainty.
    """

    powered: Interval
    plain: Interval
    weights: Floats
    correlation: float
    n_labelled: int
    n_unlabelled: int
    labels_saved: float


def prediction_powered_mean(
    ratings: npt.ArrayLike,
    predicted: npt.ArrayLike,
    predicted_elsewhere: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    target: Target = "population",
) -> PredictionPowered:
    """Estimate people's mean rating with the help of one or more metrics.

    Parameters
    ----------
    ratings : array_like, shape (n,)
        People's rating of each judged instance (the mean, where it has several).
    predicted : array_like, shape (n,) or (n, k)
        The metric, or k metrics, on the same instances, on any scale and in either
        direction.
    predicted_elsewhere : array_like, shape (u,) or (u, k)
        The same on the instances that people did not judge. The judged ones must be a
        random draw from all; u may be 0.
    confidence : float
        Nominal coverage.
    target : {"population", "test-set"}
        The mean over all instances there could be, as boards show it, or over this
        test set alone, which leaves less to chance when much of it was judged.

    Returns
    -------
    PredictionPowered
        Intervals by Student's t, for instances rated independently of each other: where
        workers rated several, see `leaderboard.stats.systems.powered`. The weights are tuned to the least estimated
        variance, so the powered interval is wider than the plain one by no more than
        the price of k estimated weights, about k/n of its width. For two systems, give
        differences of ratings and of metrics.

    Raises
    ------
    ValueError
        On no ratings, numbers that are not finite, shapes that do not fit, a wrong
        confidence or target.

    Notes
    -----
    With one metric f and people's y the estimate is mean(y) + w (mean f elsewhere - mean
    f judged), with variance Var(y - wf)/n + w² Var(f)/u, least at w = Cov(y, f) / Var(f)
    · u / (n + u): PPI++ with power tuning; (co)variances are those of the judged
    instances, so that a metric that predicts people without error gives their mean on
    all. For u to infinity it is the control variate of Chaganty et al. For the test set
    the variance is that of a regression estimator in a finite population. One rating,
    or no variation, or fewer than k + 3 ratings leave the plain estimate.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
    section 6 and example 6.1; Chaganty, Mussmann and Liang (2018), The Price of
    Debiasing Automatic Metrics in Natural Language Evaluation, ACL, section 3.2;
    Cochran (1977), Sampling Techniques, section 7.3 and 7.7 (finite population, and the
    price of an estimated weight).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> metric = rng.normal(size=2_000)
    >>> people = 3 + 0.9 * metric[:200] + 0.4 * rng.normal(size=200)
    >>> estimate = prediction_powered_mean(people, metric[:200], metric[200:])
    >>> estimate.powered.half_width < 0.6 * estimate.plain.half_width
    True
    >>> round(estimate.correlation, 2), estimate.labels_saved > 400
    (0.91, True)
    """
    from scipy import stats

    check_confidence(confidence)
    if target not in _COVERS:
        raise ValueError(f"There is no {target!r}; it is one of {', '.join(_COVERS)}.")
    y, f, g = _checked(ratings, predicted, predicted_elsewhere)
    (n, k), u = f.shape, len(g)
    w = tuned_weights(y, f, g)
    quantile = float(stats.t.ppf((1 + confidence) / 2, max(n - 1, 1)))
    share_by_chance = (
        u / (n + u) if target == "test-set" else 1.0
    )  # of chance in the draw
    plain_variance = share_by_chance * float(np.var(y, ddof=1)) / n if n > 1 else np.inf
    powered_mean = plain_mean = float(y.mean())
    powered_variance, powered_quantile = plain_variance, quantile
    if w.any():
        powered_mean += float(w @ (g.mean(axis=0) - f.mean(axis=0)))
        powered_variance = _variance(y, f, g, w, target)
        powered_quantile = float(stats.t.ppf((1 + confidence) / 2, n - 1 - k))
    # variance falls as 1/n, so a ratio of variances is a ratio of labels
    saved = n * (plain_variance / powered_variance - 1) if powered_variance > 0 else 0.0
    return PredictionPowered(
        _interval(
            powered_mean, powered_variance, powered_quantile, confidence, target, n
        ),
        _interval(plain_mean, plain_variance, quantile, confidence, target, n),
        w,
        weighted_correlation(y, f @ w),
        n,
        u,
        float(saved) if np.isfinite(saved) else 0.0,
    )


def _checked(
    ratings: npt.ArrayLike, predicted: npt.ArrayLike, elsewhere: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    y = as_ratings(ratings)
    f = np.asarray(predicted, dtype=np.float64)
    g = np.asarray(elsewhere, dtype=np.float64)
    f = f[:, None] if f.ndim == 1 else f
    g = g.reshape(-1, f.shape[-1]) if g.size == 0 else g
    g = g[:, None] if g.ndim == 1 else g
    if f.ndim != 2 or len(f) != len(y):
        raise ValueError("The metric needs one value for each judged instance.")
    if g.ndim != 2 or g.shape[1] != f.shape[1]:
        raise ValueError("The same metrics are needed on the other instances.")
    if not (np.isfinite(f).all() and np.isfinite(g).all()):
        raise ValueError("The metric's values must be finite numbers.")
    return y, f, g


def tuned_weights(y: Floats, f: Floats, g: Floats) -> Floats:
    """Give the weights of metrics that leave the least estimated variance.

    Parameters
    ----------
    y : ndarray, shape (n,)
        People's mean rating of each judged instance.
    f, g : ndarray, shapes (n, k) and (u, k)
        The metrics there, and on the instances that people did not judge.

    Returns
    -------
    ndarray, shape (k,)
        0 for a metric that does not vary, and where there is too little to learn from.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, example 6.1.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[2.0], [4.0], [6.0], [8.0]])
    >>> tuned_weights(y, f, np.full((4, 1), 5.0)).round(3).tolist()
    [0.25]
    """
    n, k = f.shape
    if n < k + 3 or len(g) < 2 or np.ptp(y) == 0:
        return np.zeros(k)
    centred = f - f.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    # what is left of rounding where a metric does not vary is no variation
    varies = scale > 1e-13 * np.sqrt(n) * np.abs(f).max(axis=0)
    w = np.zeros(k)
    if varies.any():
        unit = centred[:, varies] / scale[varies]
        # least squares; two metrics that say the same share the weight
        fitted = np.linalg.lstsq(unit, y - y.mean(), rcond=1e-10)[0]
        w[varies] = fitted / scale[varies] * (len(g) / (n + len(g)))
    return w


def _variance(y: Floats, f: Floats, g: Floats, w: Floats, target: Target) -> float:
    (n, k), u = f.shape, len(g)
    price = price_of_weights(n, k)
    if target == "test-set":
        # the judged are part of the whole: u / (n + u) of the difference is drawn
        residuals = y - f @ (w * (n + u) / u)
        return float(u / (n + u) * price * np.var(residuals, ddof=1) / n)
    residuals = y - f @ w
    elsewhere = g @ w
    return float(price * np.var(residuals, ddof=1) / n + np.var(elsewhere, ddof=1) / u)


def price_of_weights(n: int, k: int) -> float:
    """Give by how much the variance grows for weights that these ratings have tuned.

    Parameters
    ----------
    n, k : int
        Judged instances and metrics, n >= k + 3.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 7.7.

    Examples
    --------
    >>> round(price_of_weights(100, 1), 3)
    1.021
    """
    # k weights were fitted to the residuals, and hold for these instances only
    return (n - 1) / (n - 1 - k) * (1 + k / (n - k - 2))


def _interval(
    mean: float,
    variance: float,
    quantile: float,
    confidence: float,
    target: Target,
    n: int,
) -> Interval:
    reach = quantile * np.sqrt(variance)
    return Interval(
        mean,
        float(mean - reach),
        float(mean + reach),
        confidence,
        "Student's t",
        _COVERS[target],
        n,
    )


def weighted_correlation(y: Floats, weighted: Floats) -> float:
    """Give the correlation of people with the weighted metrics; NaN if one is flat.

    Examples
    --------
    >>> round(weighted_correlation(np.array([1.0, 2.0]), np.array([3.0, 5.0])), 9)
    1.0
    """
    if len(y) < 2 or np.ptp(y) == 0 or np.ptp(weighted) == 0:
        return float("nan")
    return float(np.corrcoef(y, weighted)[0, 1])
