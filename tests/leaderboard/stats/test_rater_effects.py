import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from leaderboard.stats import mixed
from leaderboard.stats.mixed import fit_mixed
from leaderboard.stats.rater_effects import standardised_means, worker_z_scores

rng = np.random.default_rng(41)
N = 400
WORKER = rng.integers(0, 15, N)
SYSTEM = rng.integers(0, 3, N)
INSTANCE = rng.integers(0, 50, N)
RATINGS = (
    np.array([60.0, 65.0, 72.0])[SYSTEM]
    + rng.normal(0, 8, 15)[WORKER]
    + rng.normal(0, 5, 50)[INSTANCE]
    + rng.normal(0, 10, N)
)


def test_z_scores_are_those_of_a_plain_group_by():
    frame = pd.DataFrame({"worker": WORKER, "rating": RATINGS})
    groups = frame.groupby("worker")["rating"]
    expected = (frame["rating"] - groups.transform("mean")) / groups.transform("std")
    assert worker_z_scores(RATINGS, WORKER) == pytest.approx(expected.to_numpy())


def test_workers_without_spread_are_left_out_and_counted():
    found = standardised_means(
        [1, 2, 5, 5, 9], list("xyxyx"), ["a", "a", "flat", "flat", "once"]
    )
    assert found.n_left_out == 3
    assert found.n_ratings.tolist() == [1, 1]
    assert found.means == pytest.approx([-(0.5**0.5), 0.5**0.5])


def test_a_system_left_without_ratings_has_no_mean():
    found = standardised_means([1, 2, 5], list("xxy"), ["a", "a", "once"])
    assert np.isnan(found.means[1])
    assert found.n_ratings.tolist() == [2, 0]


def test_repeated_ratings_of_one_output_count_as_one_instance():
    found = standardised_means(
        [0, 1, 2, 3], list("xxxy"), ["a"] * 4, ["i", "i", "j", "i"]
    )
    z = worker_z_scores([0, 1, 2, 3], ["a"] * 4)
    assert found.means[0] == pytest.approx(((z[0] + z[1]) / 2 + z[2]) / 2)


def test_the_mixed_model_with_workers_is_that_of_statsmodels():
    design = np.eye(3)[SYSTEM]
    theirs = MixedLM(RATINGS, design, groups=WORKER).fit(reml=True)
    ours = fit_mixed(RATINGS, SYSTEM, {"worker": WORKER})
    assert ours.means == pytest.approx(theirs.fe_params, abs=1e-3)
    assert np.sqrt(np.diag(ours.covariance)) == pytest.approx(theirs.bse_fe, rel=2e-3)
    assert ours.variances["worker"] == pytest.approx(theirs.cov_re[0, 0], rel=1e-3)
    assert ours.variances["residual"] == pytest.approx(theirs.scale, rel=1e-3)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-5)


@pytest.mark.parametrize("ratios", [[0.4, 0.4], [0.0, 1.5], [2.0, 0.1]])
def test_the_slope_of_the_likelihood_is_that_of_its_values(ratios):
    columns, sizes = [SYSTEM, WORKER, INSTANCE], [3, 15, 50]
    problem = mixed._cross_products((RATINGS - 65) / 12, columns, sizes)
    at = np.array(ratios)
    _, slope = mixed._deviance_and_slope(at, problem)
    for k, step in enumerate(1e-5 * np.eye(2)):
        ahead, behind = (mixed._solve(problem, at + d)[0] for d in (step, -step))
        assert slope[k] == pytest.approx((ahead - behind) / 2e-5, abs=1e-4)


def test_crossed_workers_and_instances_are_those_of_statsmodels():
    frame = pd.DataFrame({"y": RATINGS, "s": SYSTEM, "w": WORKER, "i": INSTANCE})
    # its default optimiser stops short of the maximum on these ratings; this one does not
    theirs = MixedLM.from_formula(
        "y ~ 0 + C(s)",
        groups=np.ones(N),
        vc_formula={"w": "0 + C(w)", "i": "0 + C(i)"},
        re_formula="0",
        data=frame,
    ).fit(method="cg")
    ours = fit_mixed(RATINGS, SYSTEM, {"worker": WORKER, "instance": INSTANCE})
    assert ours.means == pytest.approx(theirs.fe_params.to_numpy(), abs=1e-4)
    assert ours.variances["instance"] == pytest.approx(theirs.vcomp[0], rel=1e-4)
    assert ours.variances["worker"] == pytest.approx(theirs.vcomp[1], rel=1e-4)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-6)
    assert ours.log_likelihood >= theirs.llf - 1e-7


def test_equal_ratings_fit_without_any_variation():
    found = fit_mixed([3.0] * 12, list("xy") * 6, {"worker": np.arange(12) // 3})
    assert found.means == pytest.approx([3, 3])
    assert set(found.variances.values()) == {0.0}


def test_broken_input_is_refused_in_words():
    with pytest.raises(ValueError, match="no ratings"):
        worker_z_scores([], [])
    with pytest.raises(ValueError, match="more ratings than groups"):
        fit_mixed([1, 2], ["x", "y"], {"worker": ["a", "b"]})
    with pytest.raises(ValueError, match="finite"):
        fit_mixed([1, np.nan, 2], list("xxy"), {"worker": list("aab")})
