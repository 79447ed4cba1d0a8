"""A bias that was planted is found, and people's own taste is not called a bias."""

import re

import numpy as np
import pytest

from leaderboard.stats.judges.bias import (
    injection_effect,
    order_effect,
    settle,
    text_effects,
)
from leaderboard.stats.judges.injections import plant_probe, probes


def outputs(seed=1, n_systems=5, n_instances=40):
    rng = np.random.default_rng(seed)
    system, instance = (each.ravel() for each in np.indices((n_systems, n_instances)))
    n = len(system)
    length = rng.normal(size=n)
    quality = 2 * length + rng.normal(size=n)  # people like long texts, too
    return rng, system, instance, length, quality


def test_slopes_are_those_of_a_regression_with_dummies():
    rng, system, instance, length, quality = outputs()
    judge = 0.5 * quality + 0.3 * length + rng.normal(size=len(system))
    ratings = np.column_stack([quality, quality])  # people without error
    (found,) = text_effects(judge, ratings, system, instance, {"length": length})
    columns = [quality, length]
    columns += [system == s for s in range(5)] + [instance == i for i in range(1, 40)]
    by_hand = np.linalg.lstsq(
        np.column_stack(columns).astype(float), judge, rcond=None
    )[0]
    assert found.estimate == pytest.approx(by_hand[1], abs=1e-9)
    assert found.low < found.estimate < found.high


def test_people_who_err_do_not_make_a_judge_biased():
    estimates, naive = [], []
    for seed in range(20):
        rng, system, instance, length, quality = outputs(seed, n_instances=60)
        judge = 0.5 * quality + rng.normal(0, 0.3, len(system))
        ratings = quality[:, None] + rng.normal(0, 1.5, (len(system), 2))
        (one,) = text_effects(judge, ratings, system, instance, {"length": length})
        estimates.append(one.estimate)
        people = ratings.mean(axis=1)
        columns = np.column_stack([people, length, np.ones(len(system))])
        naive.append(np.linalg.lstsq(columns, judge, rcond=None)[0][1])
    # a regression on what people say blames the judge for what they like
    assert np.mean(naive) > 0.3
    assert abs(np.mean(estimates)) < 0.1


def test_a_family_is_measured_against_other_systems():
    rng, system, instance, length, quality = outputs(n_systems=8)
    names = np.array([f"s{code}" for code in system])
    judge = quality + 0.6 * (system == 3) + rng.normal(0, 0.2, len(system))
    ratings = quality[:, None] + rng.normal(0, 0.3, (len(system), 2))
    found = text_effects(judge, ratings, names, instance, {"length": length}, ["s3"])
    assert [one.bias for one in found] == ["length", "own family"]
    assert found[1].estimate == pytest.approx(0.6, abs=0.15)
    assert [one.found for one in settle(found)] == [False, True]
    assert settle(found)[1].verdict.startswith("own family: found, +0.")
    with pytest.raises(ValueError, match="two others"):
        text_effects(judge, ratings, names, instance, {}, set(names))


def test_degenerate_outputs():
    rng, system, instance, _, quality = outputs()
    flat = np.column_stack([np.ones(200), np.ones(200)])
    # people tell nothing apart, and one feature is a constant of the system
    found = text_effects(
        quality,
        flat,
        system,
        instance,
        {"of system": system, "coin": rng.integers(0, 2, 200)},
    )
    assert [one.bias for one in found] == ["coin"]
    with pytest.raises(ValueError, match="a rating by people"):
        text_effects(quality, np.full((200, 1), np.nan), system, instance, {})
    with pytest.raises(ValueError, match="three instances"):
        text_effects(quality[:2], flat[:2], [0, 1], [0, 1], {})
    assert settle([]) == []


def test_order_and_commands():
    always = order_effect(np.ones(30), np.ones(30), np.arange(30))
    assert (always.estimate, always.p_value) == (0.5, 0.0)
    fair = order_effect([1, 0, 0.5] * 10, [0, 1, 0.5] * 10, np.arange(30))
    assert (fair.estimate, fair.p_value) == (0.0, 1.0)
    with pytest.raises(ValueError, match="two verdicts"):
        order_effect([2], [1], [1])
    rng = np.random.default_rng(1)
    scores = rng.normal(3, 1, 50)
    lower = injection_effect(
        "plea", scores - 1, scores + rng.normal(0, 0.1, 50), range(50)
    )
    assert lower.p_value > 0.99  # put off by commands: no harm
    for both in probes():
        injected, plain = (plant_probe("Text.", one) for one in both)
        # as many words and signs, so that nothing but the command tells them apart
        assert len(injected.split()) == len(plain.split())
        assert re.sub(r"\w", "", injected) == re.sub(r"\w", "", plain)


def pairs(seed, planted="", amount=0.0, n_systems=6, n_instances=60):
    rng = np.random.default_rng(seed)
    length = rng.normal(size=(n_systems, n_instances))
    quality = rng.normal(size=length.shape) + 0.5 * length
    quality += rng.normal(0, 0.5, (n_systems, 1))
    order = np.array([rng.permutation(n_systems) for _ in range(n_instances)])
    one, other = np.sort(order.reshape(-1, 2), axis=1).T
    at = np.repeat(np.arange(n_instances), n_systems // 2)
    gap = quality[one, at] - quality[other, at]
    longer = length[one, at] - length[other, at]
    people = gap[:, None] + rng.normal(0, 1.2, (len(gap), 3)) > 0
    if planted == "length":
        gap = gap + amount * longer
    if planted == "own family":
        gap = gap + amount * (1.0 * (one < 2) - (other < 2))
    judge = np.mean([gap + rng.normal(0, 0.8, len(gap)) > 0 for _ in "ab"], axis=0)
    names = [[f"s{code}" for code in each] for each in (one, other)]
    found = text_effects(
        judge, 1.0 * people, names[0], at, {"length": longer}, ["s0", "s1"],
        against=names[1],
    )  # fmt: skip
    return {one.effect.bias: one for one in settle(found)}


def test_a_judge_of_pairs_is_audited_by_preferences():
    for planted, amount in (("length", 0.8), ("own family", 1.5)):
        found = [pairs(seed, planted, amount) for seed in range(10)]
        assert sum(one[planted].found for one in found) >= 9
        other = {"length": "own family", "own family": "length"}[planted]
        assert sum(one[other].found for one in found) <= 1
    plain = [pairs(seed) for seed in range(20)]
    assert sum(each.found for one in plain for each in one.values()) <= 3
    assert abs(np.mean([one["length"].effect.estimate for one in plain])) < 0.03
    with pytest.raises(ValueError, match="only one order"):
        text_effects(
            [1, 0, 1],
            np.ones((3, 2)),
            ["a", "b", "a"],
            [1, 2, 3],
            {},
            against=["b", "a", "b"],
        )
