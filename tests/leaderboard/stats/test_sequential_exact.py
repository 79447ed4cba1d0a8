import itertools
import json

import numpy as np
import pytest
from scipy import stats

from genie_research.papers.dynamic.exact_effort import KnownEffect, exact_effort
from genie_research.papers.dynamic.stopped_series import first_crossings
from leaderboard.stats.stopping.sequential import (
    LABEL_RULES,
    BetaMixture,
    Hoeffding,
    NormalMixture,
    Stitched,
    UnionBound,
    exact_walk,
    rule_named,
)
from tests.shared import SHARED, needs_shared

IN_THE_TRUTH = {
    "hoeffding_fixed": Hoeffding,
    "union_6pi2": UnionBound,
    "stitched": Stitched,
    "normal_mixture": NormalMixture,
    "beta_mixture": lambda delta: BetaMixture(delta, a=1, b=1),
    "beta_mixture_10": BetaMixture,
}


def exact_error(rule, p, horizon, *, every=1):
    return exact_walk(rule, p, horizon, every=every).decided_by[-1]


def truth(prefix):
    if not (SHARED / "data" / "truth.json").exists():
        return []
    items = json.loads((SHARED / "data" / "truth.json").read_text())["items"]
    return [item for item in items if item["id"].startswith(prefix)]


@needs_shared
def test_every_false_decision_rate_of_the_truth_comes_out_exactly():
    checked = 0
    groups = itertools.groupby(
        sorted(truth("sequential.null."), key=lambda item: item["id"]),
        key=lambda item: item["id"].rsplit(".n", 1)[0],
    )
    for name, items in groups:
        _, _, rule, zero, digits, looks = name.split(".")
        delta = float(f"{zero}.{digits}")
        every = int(looks.removeprefix("every") or 1)
        by_n = {int(item["id"].rsplit(".n", 1)[1]): item for item in items}
        walk = exact_walk(IN_THE_TRUTH[rule](delta), 0.5, max(by_n), every=every)
        for n, item in by_n.items():
            assert walk.decided_by[n - 1] == pytest.approx(
                item["expected"], abs=item["tol"]["exact"]
            ), item["id"]
            checked += 1
    assert checked > 100


@needs_shared
@pytest.mark.parametrize(
    "item",
    # the longest, of which each rule has several, left out
    [one for one in truth("sequential.effort.") if ".0.0625." not in one["id"]],
    ids=lambda item: item["id"],
)
def test_every_exact_effort_of_the_truth_comes_out(item):
    name, digits = item["id"].rsplit(".0.", 1)
    rule_name, delta = name.rsplit(".", 1)[1], float(f"0.{digits}")
    expected = item["expected"]
    if rule_name == "sprt":
        rule = KnownEffect(delta, p=expected["p"])
    else:
        rule = IN_THE_TRUTH[rule_name](delta)
    effort = exact_effort(rule, expected["p"])
    assert effort.mean == pytest.approx(expected["mean"], rel=1e-3)
    assert effort.sd == pytest.approx(expected["sd"], rel=1e-3)
    assert effort.p_wrong == pytest.approx(expected["wrong"], rel=0.01, abs=1e-15)


@pytest.mark.parametrize("p", [0.5, 0.3, 0.9])
def test_the_walk_agrees_with_counting_every_series(p):
    rule, n = Hoeffding(delta=0.2), 12
    every_series = np.array(list(itertools.product((0, 1), repeat=n)))
    chance = np.prod(np.where(every_series == 1, p, 1 - p), axis=1)
    stopped = first_crossings(rule, every_series)
    walk = exact_walk(rule, p, n)
    for i in range(1, n + 1):
        here = stopped.n == i
        to_a = chance[here & (stopped.side == 1)].sum()
        to_b = chance[here & (stopped.side == -1)].sum()
        assert walk.decides_a[i - 1] == pytest.approx(to_a, abs=1e-14)
        assert walk.decides_b[i - 1] == pytest.approx(to_b, abs=1e-14)


def test_a_single_look_errs_like_the_binomial():
    rule, n = Hoeffding(delta=0.01), 500
    lead = rule.boundaries(n)[1][-1]
    tail = 2 * stats.binom.sf(lead - 1, n, 0.5)
    assert exact_error(rule, 0.5, n, every=n) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize("name", [n for n, r in LABEL_RULES.items() if r.anytime_valid])
@pytest.mark.parametrize("delta", [0.05, 0.01, 0.001])
def test_an_anytime_valid_rule_keeps_its_promise_after_every_label(name, delta):
    assert exact_error(rule_named(name, delta), 0.5, 3000) <= 2 * delta


def test_a_real_difference_is_found_and_rarely_the_wrong_way_round():
    walk = exact_walk(BetaMixture(0.01), 0.55, 3000)
    assert walk.decided_by[-1] > 0.97
    assert walk.decides_b.sum() < 0.001
    mirrored = exact_walk(BetaMixture(0.01), 0.45, 3000)
    assert mirrored.decides_a == pytest.approx(walk.decides_b, rel=1e-9)


def test_effort_and_walk_are_the_same_calculation():
    rule = BetaMixture(0.01)
    walk, effort = exact_walk(rule, 0.7, 2000), exact_effort(rule, 0.7)
    n = np.arange(1, 2001)
    chances = walk.decides_a + walk.decides_b
    assert effort.mean == pytest.approx(float(n @ chances), abs=1e-6)
    assert effort.p_open <= 1e-12
