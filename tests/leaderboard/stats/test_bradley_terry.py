import choix
import numpy as np
import pytest
from scipy import optimize

from genie.lib.errors import GenieError
from leaderboard.stats.bradley_terry import (
    bradley_terry,
    bradley_terry_by_worker,
    unconnected_groups,
)
from leaderboard.stats.comparisons import compare
from tests.leaderboard.stats.e2e import challenge
from tests.shared import needs_shared

rng = np.random.default_rng(31)
STRENGTHS = np.array([0.8, 0.3, 0.0, -0.4, -0.7])


def simulate(draw, strengths, nu, n_per_pair):
    s = len(strengths)
    wins, ties = np.zeros((s, s), int), np.zeros((s, s), int)
    for i in range(s):
        for j in range(i + 1, s):
            half = (strengths[i] - strengths[j]) / 2
            weights = np.array([np.exp(half), nu, np.exp(-half)])
            over, tie, under = draw.multinomial(n_per_pair, weights / weights.sum())
            wins[i, j], wins[j, i] = over, under
            ties[i, j] = ties[j, i] = tie
    return wins, ties


WINS, TIES = simulate(rng, STRENGTHS, 0.8, 40)


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_without_ties_strengths_are_those_of_choix(penalty):
    games = [(i, j) for i in range(5) for j in range(5) for _ in range(int(WINS[i, j]))]
    theirs = choix.opt_pairwise(5, games, alpha=penalty, tol=1e-10)
    ours = bradley_terry(WINS, penalty=penalty)
    assert ours.strengths == pytest.approx(theirs - theirs.mean(), abs=1e-5)
    assert ours.tie == 0.0


def test_with_ties_no_other_strengths_are_likelier():
    def loss(x):
        strengths, nu = x[:5], np.exp(x[5])
        total = 0.0
        for i in range(5):
            for j in range(i + 1, 5):
                p, q = np.exp(strengths[i]), np.exp(strengths[j])
                root = nu * np.sqrt(p * q)
                whole = p + q + root
                total += WINS[i, j] * np.log(p / whole) + WINS[j, i] * np.log(q / whole)
                total += TIES[i, j] * np.log(root / whole)
        return -total

    found = optimize.minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6})
    ours = bradley_terry(WINS, TIES)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    assert ours.log_likelihood >= -found.fun - 1e-9
    assert ours.strengths == pytest.approx(found.x[:5] - found.x[:5].mean(), abs=1e-4)
    assert ours.tie == pytest.approx(np.exp(found.x[5]), abs=1e-4)


@pytest.mark.slow
def test_nominal_95_percent_intervals_cover_95_percent():
    draw = np.random.default_rng(7)
    centred = STRENGTHS - STRENGTHS.mean()
    inside = []
    for _ in range(600):
        fit = bradley_terry(*simulate(draw, STRENGTHS, 0.8, 25))
        inside.append(fit.interval(0).contains(centred[0]))
        inside.append(fit.difference(1, 3).contains(0.7))
        inside.append(fit.difference(0, 1).contains(0.5))
    assert 0.935 <= np.mean(inside) <= 0.965


def test_probabilities_add_up_and_two_systems_are_fitted_exactly():
    fit = bradley_terry([[0, 6], [3, 0]], [[0, 1], [1, 0]])
    assert fit.probabilities(0, 1) == pytest.approx((0.6, 0.1, 0.3))
    assert sum(fit.probabilities(1, 0)) == pytest.approx(1)
    assert fit.strengths.sum() == pytest.approx(0)


def test_systems_that_no_chain_links_are_refused_by_group():
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 2
    with pytest.raises(GenieError, match="one scale") as refused:
        bradley_terry(wins)
    assert refused.value.code == "not-connected"
    assert refused.value.details["groups"] == [[0, 1], [2, 3]]
    wins[0, 2] = 5  # only ever won across the gap: still no finite strength
    with pytest.raises(GenieError):
        bradley_terry(wins)
    ties = np.zeros((4, 4))
    ties[1, 3] = ties[3, 1] = 1
    assert np.isfinite(bradley_terry(wins, ties).strengths).all()
    assert unconnected_groups(wins, ties) == [[0, 1, 2, 3]]


def test_a_penalty_keeps_unbeaten_systems_finite():
    fit = bradley_terry([[0, 9], [0, 0]], penalty=0.1)
    assert 1 < fit.strengths[0] < 10
    assert fit.interval(0).half_width > 0


def test_nothing_but_ties_is_refused_and_one_system_is_trivial():
    with pytest.raises(GenieError, match="only ties") as refused:
        bradley_terry(np.zeros((2, 2)), [[0, 4], [4, 0]])
    assert refused.value.code == "only-ties"
    assert bradley_terry([[0]]).strengths.tolist() == [0]


def test_many_comparisons_of_unequal_systems_still_settle():
    wins = np.array([[0, 999_999, 10**6], [1, 0, 999_000], [1, 1_000, 0]])
    fit = bradley_terry(wins, np.full((3, 3), 5) - 5 * np.eye(3))
    assert np.isfinite(fit.strengths).all()
    assert fit.strengths[0] > fit.strengths[1] > fit.strengths[2]


def crowd(draw, n_workers, sizes, spread=0.7):
    true = np.array([0.5, 0.2, -0.2, -0.5])
    own = true + draw.normal(0, spread, (n_workers, 4))
    worker = np.repeat(np.arange(n_workers), sizes)
    first = draw.integers(0, 4, len(worker))
    second = (first + draw.integers(1, 4, len(worker))) % 4
    odds = own[worker, first] - own[worker, second]
    won = draw.random(len(worker)) < 1 / (1 + np.exp(-odds))
    return compare(first, second, np.where(won, 1, -1), 4), worker


@needs_shared
def test_the_strengths_and_errors_of_the_e2e_challenge_come_out():
    games, workers, names, known = challenge()
    fit = bradley_terry_by_worker(games, workers, ties="half")
    # the known errors are without the factor for few workers
    raw = fit.covariance * 106 / 107
    for i, name in enumerate(names):
        strength = known(f"{name}/bt"), known(f"{name}/bt_se_worker")
        assert fit.strengths[i] == pytest.approx(strength[0], abs=1e-9)
        assert raw[i, i] ** 0.5 == pytest.approx(strength[1], abs=1e-9)
    wald = bradley_terry(games.wins + games.ties / 2).covariance
    ratios, apart, apart_wald = [], 0, 0
    for i in range(21):
        for j in range(i):
            errors = [(c[i, i] + c[j, j] - 2 * c[i, j]) ** 0.5 for c in (raw, wald)]
            gap = abs(fit.strengths[i] - fit.strengths[j])
            ratios.append(errors[0] / errors[1])
            apart += gap > 1.96 * errors[0]
            apart_wald += gap > 1.96 * errors[1]
    assert np.median(ratios) == pytest.approx(known("se_ratio_median"), abs=1e-6)
    assert (apart, apart_wald) == (known("pairs_apart_worker"), 164)


def test_with_a_worker_for_each_comparison_the_errors_are_those_of_the_likelihood():
    games, _ = crowd(np.random.default_rng(1), 1, [4_000], spread=0.0)
    plain = bradley_terry(games.wins, games.ties)
    found = bradley_terry_by_worker(games, np.arange(4_000))
    assert found.strengths == pytest.approx(plain.strengths)
    assert found.difference(0, 3).half_width == pytest.approx(
        plain.difference(0, 3).half_width, rel=0.03
    )
    assert (plain.freedom, found.freedom) == (np.inf, pytest.approx(3_999))


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [8, 20, 60])
@pytest.mark.parametrize("even", [True, False])
def test_intervals_cover_other_workers_who_disagree(n_workers, even):
    draw = np.random.default_rng(n_workers)
    fits, apart = [], []
    for _ in range(60):
        sizes = np.full(n_workers, 40)
        if not even:
            sizes = np.clip((20 * draw.pareto(1.2, n_workers)).astype(int), 1, 300)
        games, worker = crowd(draw, n_workers, sizes)
        try:
            fits.append(bradley_terry_by_worker(games, worker))
        except GenieError:
            continue
        apart.append(bradley_terry(games.wins, games.ties))
    # averaged over workers, odds are a little nearer to even than the average worker's
    true = np.mean([fit.strengths for fit in fits], axis=0)
    pairs = [(0, 1), (2, 3), (0, 3)]

    def held(found):
        inside = [
            f.difference(i, j).contains(true[i] - true[j])
            for f in found
            for i, j in pairs
        ]
        return np.mean(inside)

    assert held(fits) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60)
    assert held(apart) < held(fits) - 0.05


def test_a_penalty_holds_for_clustered_intervals_too():
    games = compare([0] * 9, [1] * 9, [1] * 9, 2)
    fit = bradley_terry_by_worker(games, np.arange(9) % 3, penalty=0.1)
    assert np.isfinite(fit.difference(0, 1).high)
    # everybody said the same: nothing between workers, and nothing made up
    assert fit.difference(0, 1).half_width == pytest.approx(0, abs=1e-6)


def test_one_worker_says_nothing_about_others():
    games = compare([0, 0, 1], [1, 1, 0], [1, -1, 1], 2)
    with pytest.raises(GenieError, match="Only one worker") as refused:
        bradley_terry_by_worker(games, ["w"] * 3)
    assert refused.value.code == "one-worker"


def test_strengths_that_grow_with_the_share_of_ties_have_no_fit():
    # the second beats all others, and ties alone hold the rest together
    wins = [[0, 0, 0], [5, 0, 4], [1, 0, 0]]
    ties = [[0, 0, 4], [0, 0, 1], [4, 1, 0]]
    with pytest.raises(GenieError) as refused:
        bradley_terry(wins, ties)
    assert refused.value.code == "no-fit"
