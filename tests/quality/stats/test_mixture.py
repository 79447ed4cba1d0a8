"""Beta mixtures: posteriors in closed form and fits by maximum likelihood."""

import math
import time

import numpy as np
import pytest
from scipy import optimize, stats

from quality.counts import merge_counts
from quality.detection.stats.beta_mixture import BetaMixture
from quality.detection.stats.likelihood import evaluate, gradient_and_hessian, prepare
from quality.detection.stats.mixture import GENIE_PSEUDO_WORKERS, ConvergenceError, fit
from tests.quality.stats.truth import counts, truth
from tests.shared import needs_shared

TWO = BetaMixture((0.05, 0.95), (0.5, 9.5), (4.5, 0.5))
POOLS = ("sim88_0", "sim88_1", "sim88_ushape")


def pool(n_workers, seed=0, share_noisy=0.1, longest=60):
    rng = np.random.default_rng(seed)
    n = rng.integers(0, longest, n_workers)
    noisy = rng.random(n_workers) < share_noisy
    rate = np.where(noisy, rng.beta(2, 6, n_workers), rng.beta(97, 3, n_workers))
    return rng.binomial(n, rate), n


def test_posterior_equals_numerical_integration_of_bayes_rule():
    grid = np.linspace(0, 1, 400_001)[1:-1]
    prior = 0.05 * stats.beta.pdf(grid, 3, 5) + 0.95 * stats.beta.pdf(grid, 20, 2)
    weight = prior * grid**7 * (1 - grid) ** 4
    expected = weight[grid < 0.8].sum() / weight.sum()
    mixture = BetaMixture((0.05, 0.95), (3, 20), (5, 2))
    assert mixture.posterior_tails(7, 11, 0.8)[0] == pytest.approx(expected, abs=1e-4)


def test_tight_classes_and_enormous_counts_give_numbers():
    tight = BetaMixture((0.5, 0.5), (2500, 4900), (2500, 100))
    assert tight.posterior_class(0, 2_000)[0] == 1.0
    tight = BetaMixture((1,), (4259,), (474,))
    assert tight.posterior_tails(0, 400, 0.9)[0] == 1.0
    huge = 10**9
    both = TWO.posterior_tails([0, huge // 2, huge], [huge] * 3, 0.9)[0]
    assert both.tolist() == [1.0, 1.0, 0.0]


def test_a_component_of_weight_zero_changes_nothing():
    with_dead = BetaMixture((1, 0), (3, 7), (2, 1))
    alone = BetaMixture((1,), (3,), (2,))
    for correct, n in ((0, 0), (3, 9), (0, 5_000)):
        assert with_dead.posterior_tails(correct, n, 0.9)[0] == pytest.approx(
            alone.posterior_tails(correct, n, 0.9)[0], abs=1e-15
        )
    x, n = pool(300, longest=6)
    order = np.random.default_rng(1).permutation(300)
    once, again = merge_counts(x, n), merge_counts(x[order], n[order])
    assert once.weight.sum() == 300
    assert len(once.weight) == len(set(zip(x.tolist(), n.tolist(), strict=True)))
    assert (once.weight == again.weight).all()
    assert (once.correct == again.correct).all()


def test_the_likelihood_keeps_its_digits_at_large_concentrations():
    """Against exact sums of logs, where differences of log gammas lose nine digits."""
    sample = prepare(merge_counts(np.array([700]), np.array([1_000])))
    theta = np.array([[[0.3], [np.log(1e6)], [0.0]]])
    mean = 1 / (1 + np.exp(-0.3))
    logs = [
        math.fsum(np.log1p(np.arange(count) / size)) + count * math.log(size)
        for size, count in ((1e6 * mean, 700), (1e6 * (1 - mean), 300), (1e6, 1_000))
    ]
    exact = logs[0] + logs[1] - logs[2] + math.log(math.comb(1_000, 700))
    assert evaluate(sample, theta).value[0] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_derivatives_equal_finite_differences(k):
    sample = prepare(merge_counts(*pool(60)))
    theta = np.random.default_rng(k).normal(size=(2, 3, k))
    slope, bend = gradient_and_hessian(sample, theta, evaluate(sample, theta))
    step = 1e-5
    for axis in range(3 * k):
        shift = np.zeros(3 * k)
        shift[axis] = step
        up, down = theta + shift.reshape(3, k), theta - shift.reshape(3, k)
        at_up, at_down = evaluate(sample, up), evaluate(sample, down)
        assert slope[:, axis] == pytest.approx(
            (at_up.value - at_down.value) / (2 * step), abs=1e-6
        )
        change = (
            gradient_and_hessian(sample, up, at_up)[0]
            - gradient_and_hessian(sample, down, at_down)[0]
        )
        assert bend[:, :, axis] == pytest.approx(change / (2 * step), abs=1e-5)


def test_one_component_reaches_the_maximum_that_scipy_finds():
    x, n = pool(80, share_noisy=0.4)

    def loss(theta):
        return -stats.betabinom.logpmf(x, n, *np.exp(theta)).sum()

    best = optimize.minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-7})
    found = fit(x, n, k=1, pseudo=())
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    assert found.mixture.alphas[0] == pytest.approx(np.exp(best.x[0]), rel=1e-3)
    assert not found.at_bound


def test_the_reported_likelihood_is_that_of_the_reported_mixture():
    x, n = pool(50)
    found = fit(x, n, k=2)
    px, pn = zip(*GENIE_PSEUDO_WORKERS, strict=True)
    shapes = zip(found.mixture.alphas, found.mixture.betas, strict=True)
    each = [stats.betabinom.pmf([*x, *px], [*n, *pn], a, b) for a, b in shapes]
    total = np.log(found.mixture.weights @ np.array(each)).sum()
    assert found.log_likelihood == pytest.approx(total, abs=1e-6)
    x, n = pool(40)
    more = fit([*x, 0, 0], [*n, 0, 0], k=2)
    assert more == fit(x, n, k=2)


def test_more_components_never_fit_worse():
    x, n = pool(120, share_noisy=0.3)
    values = [fit(x, n, k=k).log_likelihood for k in (1, 2, 3)]
    assert values[0] <= values[1] + 1e-6
    assert values[1] <= values[2] + 1e-6
    x, n = pool(88, seed=9)
    values = [fit(x, n, k=2, seed=seed).log_likelihood for seed in range(8)]
    assert max(values) - min(values) < 1e-3


def test_two_kinds_of_workers_are_found():
    rng = np.random.default_rng(3)
    n = np.full(2_000, 40)
    rate = np.where(
        rng.random(2_000) < 0.3, rng.beta(6, 14, 2_000), rng.beta(45, 5, 2_000)
    )
    found = fit(rng.binomial(n, rate), n, k=2, pseudo=())
    assert found.mixture.weights == pytest.approx((0.7, 0.3), abs=0.03)
    assert found.mixture.means == pytest.approx((0.9, 0.3), abs=0.02)
    assert not found.at_bound
    assert found.n_restarts_converged >= 5


def test_the_same_seed_gives_the_same_bytes_and_the_order_of_workers_none():
    x, n = pool(70)
    order = np.random.default_rng(0).permutation(70)
    first = fit(x, n, k=2, seed=5)
    assert fit(x, n, k=2, seed=5) == first
    assert fit(x[order], n[order], k=2, seed=5) == first


@pytest.mark.parametrize(
    ("correct", "n"),
    [
        ([], []),
        ([0] * 30, [0] * 30),
        ([10] * 50, [10] * 50),
        ([0] * 50, [10] * 50),
        ([3], [4]),
        ([0], [0]),
        ([10**6], [10**6]),
    ],
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_degenerate_pools_are_fitted_at_once(correct, n, k):
    started = time.perf_counter()
    found = fit(correct, n, k=k)
    assert time.perf_counter() - started < 30
    assert found.converged
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize("right", [0, 10])
def test_without_pseudo_workers_a_pool_of_one_mind_has_likelihood_one(right):
    found = fit([right] * 50, [10] * 50, k=2, pseudo=())
    assert found.log_likelihood == pytest.approx(0, abs=1e-6)


def test_a_fit_of_nobody_one_that_may_not_climb_and_one_at_infinity_are_told():
    for correct, n in (([], []), ([0, 0], [0, 0])):
        with pytest.raises(ValueError, match="nothing to fit"):
            fit(correct, n, k=1, pseudo=())
    x, n = pool(60)
    with pytest.raises(ConvergenceError) as caught:
        fit(x, n, k=2, max_iterations=2)
    assert caught.value.code == "fit-not-converged"
    unfinished = fit(x, n, k=2, max_iterations=2, require_convergence=False)
    assert not unfinished.converged
    assert unfinished.log_likelihood < fit(x, n, k=2).log_likelihood
    found = fit([95] * 20, [100] * 20, k=1, pseudo=())
    assert found.converged
    assert found.at_bound


@needs_shared
@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("k", [1, 2])
def test_known_pools_reach_the_known_maximum(name, k):
    x, n, _ = counts(f"genie/{name}.csv")
    expected = truth()[f"genie.fit.{name}.k{k}.loglik"]
    for seed in range(3):
        found = fit(x, n, k=k, seed=seed)
        assert found.converged
        assert found.log_likelihood >= expected["expected"] - expected["tol"]
