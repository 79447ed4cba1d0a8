"""Log-likelihood of beta-binomial mixtures, its gradient and Hessian, in log space.

All restarts of a fit are one array axis. The coordinates of a mixture are, for each
component, (logit of the mean, log of the concentration alpha + beta, logit of the
weight): nearly orthogonal, and concentrations of 1 and of 10,000 are a few steps apart.
"""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints, MergedCounts

#: From here on three terms of Stirling's series are exact to double precision.
_STIRLING_FROM = 200.0


@dataclass(frozen=True)
class _Distinct:
    values: Floats
    index: Ints


@dataclass(frozen=True)
class Sample:
    """Merged counts prepared for many evaluations of the likelihood.

    Attributes
    ----------
    right, wrong, answered : _Distinct
        Special functions are evaluated on distinct values only.
    weight : ndarray of float64, shape (n_rows,)
        Workers per row.
    log_choose : ndarray of float64, shape (n_rows,)
        Log binomial coefficients.
    """

    right: _Distinct
    wrong: _Distinct
    answered: _Distinct
    weight: Floats
    log_choose: Floats


@dataclass(frozen=True)
class Evaluation:
    """The likelihood at one point per restart, with what a Newton step needs.

    Attributes
    ----------
    value : ndarray, shape (n_restarts,)
        Log-likelihood with the binomial coefficients.
    share : ndarray, shape (n_restarts, n_components, n_rows)
        Posterior of the components for each row (the E-step).
    score_m, score_c : ndarray, shape (n_restarts, n_components, n_rows)
        Derivatives of the component's log density by the logit of the mean and by the
        log of the concentration.
    curve_mm, curve_cc, curve_mc : ndarray, same shape
        Its second derivatives.
    """

    value: Floats
    share: Floats
    score_m: Floats
    score_c: Floats
    curve_mm: Floats
    curve_cc: Floats
    curve_mc: Floats


def prepare(counts: MergedCounts) -> Sample:
    """Index the distinct values of merged counts for evaluation."""
    from scipy import special

    x, n = counts.correct, counts.n
    log_choose = (
        special.gammaln(n + 1.0)
        - special.gammaln(x + 1.0)
        - special.gammaln(n - x + 1.0)
    )
    return Sample(
        _distinct(x), _distinct(n - x), _distinct(n), counts.weight, log_choose
    )


def _distinct(values: Ints) -> _Distinct:
    distinct, index = np.unique(values, return_inverse=True)
    return _Distinct(distinct.astype(np.float64), index)


def evaluate(sample: Sample, theta: Floats) -> Evaluation:
    """Evaluate the log-likelihood and the components' derivatives.

    Parameters
    ----------
    theta : ndarray, shape (n_restarts, 3, n_components)
        Logit of the mean, log of the concentration, logit of the weight.

    References
    ----------
    T. Minka, "Estimating a Dirichlet distribution" (2000), section 2 (Newton steps of
    the Dirichlet-multinomial likelihood).
    """
    from scipy import special

    mean = special.expit(theta[:, 0, :, None])
    size = np.exp(theta[:, 1, :, None])
    alpha, beta = size * mean, size * special.expit(-theta[:, 0, :, None])
    right = _rising_factorial(alpha, sample.right)
    wrong = _rising_factorial(beta, sample.wrong)
    all_answers = _rising_factorial(size, sample.answered)
    log_weight = special.log_softmax(theta[:, 2, :], axis=1)[:, :, None]
    joint = right[0] + wrong[0] - all_answers[0] + sample.log_choose + log_weight
    # Subtract the largest term first; otherwise all of them would underflow to 0.
    top = joint.max(axis=1)
    log_marginal = top + np.log(np.exp(joint - top[:, None, :]).sum(axis=1))
    # How alpha changes with the logit of the mean; beta changes by the same, downwards.
    turn = alpha * beta / size
    score_m = turn * (right[1] - wrong[1])
    score_c = alpha * right[1] + beta * wrong[1] - size * all_answers[1]
    return Evaluation(
        value=log_marginal @ sample.weight,
        share=np.exp(joint - log_marginal[:, None, :]),
        score_m=score_m,
        score_c=score_c,
        curve_mm=turn**2 * (right[2] + wrong[2]) + (1 - 2 * mean) * score_m,
        curve_cc=score_c
        + alpha**2 * right[2]
        + beta**2 * wrong[2]
        - size**2 * all_answers[2],
        curve_mc=turn * (alpha * right[2] - beta * wrong[2]) + score_m,
    )


def _rising_factorial(start: Floats, count: _Distinct) -> tuple[Floats, Floats, Floats]:
    """Log of the rising factorial, log gamma(a + m) - log gamma(a), twice derived."""
    from scipy import special

    # Second derivatives: zeta(2, x) is the trigamma function.
    grid = start + count.values
    return (
        _log_rising(start, grid, count.values)[..., count.index],
        (special.psi(grid) - special.psi(start))[..., count.index],
        (special.zeta(2, grid) - special.zeta(2, start))[..., count.index],
    )


def _log_rising(start: Floats, grid: Floats, steps: Floats) -> Floats:
    """Log of the rising factorial without cancellation at large concentrations.

    There both log gammas are near 1e7 and their difference would lose nine digits, more
    than a last Newton step gains; Stirling's series is subtracted term by term instead.
    """
    from scipy import special

    large = start >= _STIRLING_FROM
    plain = special.gammaln(np.where(large, 1.0 + steps, grid)) - special.gammaln(
        np.where(large, 1.0, start)
    )
    if not large.any():
        return plain
    tail = _stirling_tail(grid) - _stirling_tail(start)
    series = (start - 0.5) * np.log1p(steps / start) + steps * (np.log(grid) - 1) + tail
    return np.where(large, series, plain)


def _stirling_tail(value: Floats) -> Floats:
    inverse = 1 / value
    return inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 / 1260))


def gradient_and_hessian(
    sample: Sample, theta: Floats, at: Evaluation
) -> tuple[Floats, Floats]:
    """Assemble the derivatives of the mixture's log-likelihood.

    Returns
    -------
    tuple of ndarray, shapes (n_restarts, p) and (n_restarts, p, p)
        With p = 3 n_components, in the order of ``theta.reshape(n_restarts, p)``.
    """
    from scipy import special

    n_restarts, _, k = theta.shape
    prior = special.softmax(theta[:, 2, :], axis=1)
    pull = np.concatenate(
        [at.share * at.score_m, at.share * at.score_c, at.share], axis=1
    )
    weighted = pull * sample.weight
    slope = weighted.sum(axis=2)
    n_workers = sample.weight.sum()
    expected = slope[:, 2 * k :].copy()
    slope[:, 2 * k :] -= n_workers * prior

    bend = -weighted @ pull.transpose(0, 2, 1)
    responsibility = at.share * sample.weight
    m, c, w = np.arange(k), np.arange(k) + k, np.arange(k) + 2 * k
    cross = (responsibility * (at.curve_mc + at.score_m * at.score_c)).sum(axis=2)
    bend[:, m, m] += (responsibility * (at.curve_mm + at.score_m**2)).sum(axis=2)
    bend[:, c, c] += (responsibility * (at.curve_cc + at.score_c**2)).sum(axis=2)
    bend[:, m, c] += cross
    bend[:, c, m] += cross
    for rows in (m, c):
        bend[:, rows, w] += slope[:, rows]
        bend[:, w, rows] += slope[:, rows]
    bend[:, 2 * k :, 2 * k :] += n_workers * prior[:, :, None] * prior[:, None, :]
    bend[:, w, w] += expected - n_workers * prior
    return slope.reshape(n_restarts, 3 * k), bend
