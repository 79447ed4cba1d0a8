"""Detectors of noisy workers: what they say and what they must never say."""

import json

import numpy as np
import pytest
from scipy import special

from genie_research.detection.detection_study import simulate_round
from genie_research.detection.question_counts import question_counts
from quality.detection.stats.beta_mixture import BetaMixture
from quality.detection.stats.detectors import (
    DEFAULT_DETECTOR,
    DETECTORS,
    PAPER_DETECTORS,
    detect,
    fit_detector,
    flag,
    guard,
    with_fit,
)
from quality.detection.stats.mixture import fit
from tests.quality.stats.truth import counts, rows, truth
from tests.shared import needs_shared

RATE = [slug for slug, spec in DETECTORS.items() if spec.criterion == "rate"]
TITLES = {
    "class_fixed2": "class-fixed-2",
    "rate_fixed2": "rate-fixed-2",
    "rate_fixed1": "rate-fixed-1",
    "rate_jeffreys": "rate-jeffreys",
    "rate_uniform": "rate-uniform",
}


def pathological_pool():
    """Draw a pool whose likelihood maximum has a U-shaped "noisy" class."""
    asked = question_counts("lognormal-heavy")
    return simulate_round(asked, np.random.default_rng(14))[0], asked


def test_the_paper_has_eight_detectors_and_the_default_is_not_one_of_them():
    assert len(PAPER_DETECTORS) == 8
    assert DEFAULT_DETECTOR in DETECTORS
    assert DEFAULT_DETECTOR not in PAPER_DETECTORS
    with pytest.raises(ValueError, match="rate-guarded-2"):
        detect([1], [2], detector="astrology")


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize(
    ("correct", "n", "flagged"),
    [
        ([], [], []),
        ([50] * 20, [50] * 20, [False] * 20),
        ([0] * 20, [50] * 20, [True] * 20),
        ([49], [50], [False]),
        ([0], [50], [True]),
        ([0] * 5, [0] * 5, [False] * 5),
    ],
)
def test_degenerate_pools_get_the_obvious_flags(detector, correct, n, flagged):
    found = detect(correct, n, detector=detector)
    assert found.flagged.tolist() == flagged
    assert found.p_noisy.shape == (len(flagged),)
    assert np.isfinite(found.p_noisy).all()


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_worker_without_questions_gets_the_prior_of_the_pool(detector):
    found = detect([9, 10, 2, 0], [10, 10, 10, 0], detector=detector)
    assert found.p_noisy[3] == found.fitted.p_noisy(0, 0)


@pytest.mark.parametrize("detector", RATE)
def test_under_the_rate_criterion_a_right_answer_never_incriminates(detector):
    rng = np.random.default_rng(0)
    for _ in range(6):
        sizes = rng.integers(1, 200, 40)
        fitted = fit_detector(
            rng.binomial(sizes, rng.beta(3, 1, 40)), sizes, detector=detector
        )
        for n in (1, 2, 5, 20, 100, 500):
            steps = np.diff(fitted.p_noisy(np.arange(n + 1), n))
            assert (steps <= 1e-12).all()


HARD_POOLS = {
    "nobody": ([], []),
    "all at .6": ([60] * 50, [100] * 50),
    "all wrong": ([0] * 50, [100] * 50),
    "all half": ([500] * 200, [1000] * 200),
    "u-shaped": pathological_pool(),
    "all right": ([9] * 30, [9] * 30),
    "just below the rate": ([890] * 60, [1000] * 60),
}


@pytest.mark.parametrize("pool", HARD_POOLS)
@pytest.mark.parametrize("threshold_rate", [0.5, 0.9, 0.999])
def test_the_default_never_flags_a_flawless_worker(pool, threshold_rate):
    fitted = fit_detector(*HARD_POOLS[pool], threshold_rate=threshold_rate)
    n = np.array([0, 1, 2, 3, 5, 10, 20, 100, 267, 10_000])
    p_noisy = fitted.p_noisy(n, n)
    assert (p_noisy <= 0.5 + 1e-12).all()
    assert (np.diff(p_noisy) <= 1e-12).all()


def test_the_class_criterion_of_the_paper_flags_a_flawless_worker():
    right, asked = pathological_pool()
    paper = detect(right, asked, detector="class-learned-2")
    ours = detect(right, asked)
    flawless = np.flatnonzero((right == asked) & (asked > 200))
    assert flawless.size == 3
    assert paper.flagged[flawless].all()
    fitted = paper.fitted
    assert fitted.p_noisy(310, 310) > fitted.p_noisy(100, 100) > fitted.p_noisy(20, 20)
    assert (ours.p_noisy[flawless] < 1e-6).all()


def test_the_default_waits_for_newcomers_and_sees_whom_the_papers_detectors_miss():
    crowd = [600] * 100, [1000] * 100
    paper = fit_detector(*crowd, detector="rate-learned-2", pseudo=())
    ours = fit_detector(*crowd, pseudo=())
    assert paper.p_noisy(1, 1) > 0.99
    assert ours.p_noisy(1, 1) <= 0.5
    assert ours.p_noisy(60, 100) > 0.99
    right, asked = [94] * 400 + [80], [100] * 401
    paper = detect(right, asked, detector="rate-learned-1", pseudo=())
    ours = detect(right, asked, pseudo=())
    assert paper.p_noisy[-1] < 0.5
    assert ours.p_noisy[-1] > 0.99
    assert ours.p_noisy[0] < 0.01


def test_noisy_workers_among_good_ones_are_found():
    rng = np.random.default_rng(4)
    noisy = np.arange(100) < 8
    right = rng.binomial(20, np.where(noisy, 0.4, 0.97))
    assert detect(right, [20] * 100).flagged.tolist() == noisy.tolist()
    rng = np.random.default_rng(2)
    n = rng.integers(1, 30, 50)
    x = rng.binomial(n, rng.beta(8, 1, 50))
    order = rng.permutation(50)
    assert (detect(x, n).p_noisy[order] == detect(x[order], n[order]).p_noisy).all()


def test_at_the_threshold_itself_only_the_inclusive_comparison_flags():
    """Under a uniform prior P(p < .9 | 0 of 1) is .99 exactly."""
    assert not detect([0], [1], detector="rate-uniform").flagged[0]
    assert detect([0], [1], detector="rate-uniform", inclusive=True).flagged[0]


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        detect([1], [2], threshold_posterior=threshold)
    with pytest.raises(ValueError, match="threshold"):
        flag([0.5], threshold)


@pytest.mark.parametrize("rate", [0, 1, 2, float("nan")])
def test_a_threshold_rate_at_the_edge_is_refused(rate):
    with pytest.raises(ValueError, match="threshold rate"):
        detect([1], [2], threshold_rate=rate)


def test_detectors_can_share_a_fit():
    found = fit([9, 3], [10, 10], k=2)
    assert with_fit(found, detector="class-learned-2").mixture == found.mixture


def test_the_guard_weighs_as_much_as_one_worker():
    guarded = guard(BetaMixture((0.3, 0.7), (1, 9), (9, 1)), 99)
    assert guarded.weights == pytest.approx((0.297, 0.693, 0.01))
    assert sum(guarded.weights) == pytest.approx(1, abs=1e-12)


def test_everything_that_decided_is_told_and_is_json():
    found = detect([9, 3], [10, 10], seed=7, threshold_posterior=0.95)
    told = json.loads(json.dumps(found.parameters))
    assert told["detector"] == DEFAULT_DETECTOR
    assert (told["seed"], told["threshold_posterior"]) == (7, 0.95)
    assert BetaMixture(**told["prior"]).means == found.fitted.mixture.means
    assert found.fitted.fit.converged


@needs_shared
@pytest.mark.parametrize("column", TITLES)
def test_posteriors_under_fixed_priors_are_the_exact_ones(column):
    table = rows("genie/posterior_fixed_priors.csv")
    x = [int(row["correct"]) for row in table]
    n = [int(row["correct"]) + int(row["wrong"]) for row in table]
    fitted = fit_detector([], [], detector=TITLES[column])
    expected = [float(row[column]) for row in table]
    assert fitted.p_noisy(x, n) == pytest.approx(expected, abs=1e-9)


@needs_shared
@pytest.mark.parametrize("detector", PAPER_DETECTORS)
@pytest.mark.parametrize("name", ["sim88_0", "sim88_1", "sim88_ushape"])
def test_posteriors_of_all_eight_follow_from_their_prior_by_bayes_rule(name, detector):
    x, n, _ = counts(f"genie/{name}.csv")
    fitted = fit_detector(x, n, detector=detector)
    x, n = np.array(x)[:, None], np.array(n)[:, None]
    of = fitted.mixture
    a, b = np.array(of.alphas), np.array(of.betas)
    fits = np.log(of.weights) + special.betaln(a + x, b + n - x) - special.betaln(a, b)
    shares = special.softmax(fits, axis=1)
    expected = (shares * special.betainc(a + x, b + n - x, 0.9)).sum(axis=1)
    if detector.startswith("class"):
        expected = 1 - shares[:, np.argmax(a / (a + b))]
    assert fitted.p_noisy(x[:, 0], n[:, 0]) == pytest.approx(expected, abs=1e-9)


@needs_shared
@pytest.mark.parametrize("name", ["sim88_0", "sim88_1", "sim88_ushape"])
@pytest.mark.parametrize("criterion", ["rate", "class"])
def test_known_pools_get_the_known_flags(name, criterion):
    x, n, _ = counts(f"genie/{name}.csv")
    found = detect(x, n, detector=f"{criterion}-learned-2")
    expected = truth()[f"genie.fit.{name}.k2.flag_{criterion}"]["expected"]
    assert (np.flatnonzero(found.flagged) + 1).tolist() == expected


@needs_shared
def test_in_the_known_pathological_pool_the_default_clears_the_flawless_worker():
    x, n, _ = counts("genie/sim88_ushape.csv")
    paper, ours = detect(x, n, detector="class-learned-2"), detect(x, n)
    assert paper.p_noisy[-1] == pytest.approx(0.9985, abs=1e-4)
    assert ours.p_noisy[-1] < 1e-6
    assert (
        ours.flagged.tolist()
        == detect(x, n, detector="rate-learned-2").flagged.tolist()
    )
