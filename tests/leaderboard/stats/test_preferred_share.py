"""How often a system is preferred: the interval holds for other workers."""

import numpy as np
import pytest
from scipy.special import expit, logit

from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.stats.systems.estimates import (
    COVERS_CROWD,
    COVERS_DAYS,
    COVERS_THESE,
    Population,
)
from leaderboard.stats.systems.preferred_share import preferred_share


def asked(rng, n_workers, n_answers, *, sd, share=0.7, unequal=False):
    """Draw workers who lean differently; each instance is shown to one of them."""
    lean = logit(share) + sd * rng.normal(size=n_workers)
    work = rng.dirichlet(np.ones(n_workers)) if unequal else None
    worker = rng.choice(n_workers, n_answers, p=work)
    return (rng.random(n_answers) < expit(lean[worker])).astype(float), worker


def coverage(n_tasks, **crowd):
    rng = np.random.default_rng(5)
    wide = np.random.default_rng(6).normal(size=400_000)
    truth = expit(logit(0.7) + crowd["sd"] * wide).mean()
    held = np.zeros(2)
    for _ in range(n_tasks):
        answers, worker = asked(rng, **crowd)
        found = preferred_share(answers, worker, np.arange(len(answers)))
        mean = answers.mean()
        apart = 1.96 * (mean * (1 - mean) / len(answers)) ** 0.5
        held += found.contains(truth), abs(mean - truth) <= apart
    return held / n_tasks


@pytest.mark.parametrize("unequal", [False, True])
def test_it_holds_for_another_crowd_where_independent_labels_do_not(unequal):
    crowd = {"n_workers": 20, "n_answers": 200, "sd": 1.0, "unequal": unequal}
    ours, independent = coverage(200, **crowd)
    assert 0.91 <= ours <= 0.985
    assert independent < 0.82


def test_without_differences_between_workers_it_is_the_binomial_interval():
    rng = np.random.default_rng(2)
    answers = (rng.random(4_000) < 0.6).astype(float)
    found = preferred_share(answers, np.arange(4_000) % 400, np.arange(4_000))
    share = answers.mean()
    assert found.estimate == pytest.approx(share)
    assert found.half_width == pytest.approx(
        1.96 * (share * (1 - share) / 4_000) ** 0.5, rel=0.08
    )


def test_workers_who_each_repeat_themselves_count_once_as_statsmodels_has_it():
    """One answer a worker said ten times over is worth one: cluster-robust errors."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    once = (rng.random(60) < 0.65).astype(float)
    answers, worker = np.repeat(once, 10), np.repeat(np.arange(60), 10)
    fit = sm.Logit(answers, np.ones(600)).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": worker}
    )
    found = preferred_share(answers, worker, np.arange(600))
    reach = (logit(found.high) - logit(found.low)) / 2
    # Student's t with 59 degrees of freedom instead of the normal distribution
    assert reach == pytest.approx(2.001 * float(fit.bse[0]), rel=0.03)


@pytest.mark.parametrize("answers", [[1.0] * 30, [0.0] * 30, [0.5] * 30])
def test_answers_that_are_all_the_same_say_nothing_of_other_workers(answers):
    found = preferred_share(answers, np.arange(30) % 6, np.arange(30))
    assert found.covers == COVERS_INSTANCES
    assert 0 <= found.low < found.high <= 1


def test_one_worker_covers_instances_only():
    found = preferred_share([1, 0, 1, 1], ["w"] * 4, range(4))
    assert found.covers == COVERS_INSTANCES
    found = preferred_share([1, 0, 1, 1], list("wwxx"), range(4))
    assert found.covers == COVERS_CROWD


def test_answers_are_shares():
    with pytest.raises(ValueError, match="no answers"):
        preferred_share([], [], [])


def over_days(rng, n_days, day_sd):
    """Draw workers of two days each at most, on days that lean differently."""
    worker, two = rng.integers(0, 30, 300), rng.integers(0, n_days, (30, 2))
    day = two[worker, rng.integers(0, 2, 300)]
    lean = 0.5 * rng.normal(size=30)[worker] + day_sd * rng.normal(size=n_days)[day]
    return (rng.random(300) < expit(0.5 + lean)).astype(float), worker, day


@pytest.mark.slow
def test_it_holds_for_other_days():
    rng = np.random.default_rng(8)
    leans = rng.normal(0, (0.25 + 0.6**2) ** 0.5, 400_000)
    truth, held = expit(0.5 + leans).mean(), np.zeros(2)
    for _ in range(120):
        answers, worker, day = over_days(rng, 4, 0.6)
        within = preferred_share(answers, worker, np.arange(300))
        found = preferred_share(answers, worker, np.arange(300), day)
        assert found.half_width >= within.half_width
        held += found.contains(truth), within.contains(truth)
    ours, without = held / 120
    assert 0.91 <= ours <= 0.985
    assert without < 0.88


def test_days_that_are_alike_widen_it_little():
    rng, wider = np.random.default_rng(8), []
    for _ in range(20):
        answers, worker, day = over_days(rng, 4, 0.0)
        within, found = (
            preferred_share(answers, worker, np.arange(300), days)
            for days in (None, day)
        )
        wider.append(found.half_width / within.half_width)
    assert 1.0 <= min(wider) < np.mean(wider) < 1.3


def test_fewer_than_three_days_change_nothing():
    rng = np.random.default_rng(9)
    answers, worker, day = over_days(rng, 2, 0.5)
    plain = preferred_share(answers, worker, np.arange(300))
    assert preferred_share(answers, worker, np.arange(300), day) == plain
    named = preferred_share(answers, worker, np.arange(300), (day + worker) % 3)
    assert (plain.covers, named.covers) == (COVERS_CROWD, COVERS_DAYS)


def test_about_these_raters_only_instances_vary():
    worker, pair = np.arange(60) % 3, np.arange(60)
    answers = (pair % 10 < 3 + 2 * worker).astype(float)
    like, these = (
        preferred_share(answers, worker, pair, population=population)
        for population in (Population.LIKE, Population.THESE)
    )
    assert (these.estimate, these.covers) == (like.estimate, COVERS_THESE)
    error = (these.estimate * (1 - these.estimate) / 60) ** 0.5
    assert these.half_width == pytest.approx(1.96 * error, rel=0.1)
    assert like.half_width > 2 * these.half_width
