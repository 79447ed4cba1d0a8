"""Whether tests can be told without reading: figures against others, and limits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu, norm

from quality.test_questions.separability.classifier import (
    RIDGE,
    folds_of,
    held_out_scores,
    quadratic,
)
from quality.test_questions.separability.features import (
    FEATURES,
    Surface,
    blend_in,
    pooled_features,
    surface_features,
)
from quality.test_questions.separability.measure import (
    Separability,
    area,
    aucs,
    separability,
)


@pytest.mark.parametrize("ties", [False, True])
def test_an_area_is_mann_and_whitneys(ties):
    rng = np.random.default_rng(3)
    tests, items = rng.normal(0.4, 1, (23, 4)), rng.normal(0, 1, (41, 4))
    if ties:
        tests, items = tests.round(), items.round()
    u = mannwhitneyu(tests, items).statistic
    assert aucs(tests, items) == pytest.approx(u / (23 * 41))


def test_delongs_variance_is_that_of_its_definition():
    rng = np.random.default_rng(5)
    tests, items = rng.normal(1, 1, 17).round(1), rng.normal(0, 1, 29).round(1)
    above = (tests[:, None] > items) + 0.5 * (tests[:, None] == items)
    by_test, by_item = above.mean(axis=1), above.mean(axis=0)
    expected = by_test.var(ddof=1) / 17 + by_item.var(ddof=1) / 29
    found = area(tests, items)
    assert found.estimate == pytest.approx(above.mean())
    assert found.variance == pytest.approx(expected)


def test_delongs_interval_covers_the_true_area():
    rng, true = np.random.default_rng(7), norm.cdf(0.8 / np.sqrt(2))
    found = [area(rng.normal(0.8, 1, 40), rng.normal(0, 1, 60)) for _ in range(300)]
    covered = np.mean([one.low <= true <= one.high for one in found])
    assert 0.91 < covered < 0.98


@pytest.mark.parametrize("side", [0, 1])
def test_a_perfect_area_still_has_an_interval(side):
    tests, items = np.arange(3.0), np.arange(3.0) + 10
    found = area(*((tests, items) if side == 0 else (items, tests)))
    assert found.estimate == side
    assert found.high - found.low > 0.1


def test_the_classifier_is_the_ridge_logistic_regression_of_others():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    labels = (x[:, 0] + rng.normal(size=60)) > 0.5
    folds = np.arange(60) % 3
    ridge = np.full(3, 2.0)
    ours = held_out_scores(x, ridge, labels[:, None], folds)[:, 0]
    for fold in range(3):
        out = folds == fold

        def loss(beta, kept=~out):
            z = beta[0] + x[kept] @ beta[1:]
            return (np.logaddexp(0, z) - labels[kept] * z).sum() + ridge @ beta[
                1:
            ] ** 2 / 2

        beta = minimize(loss, np.zeros(4), tol=1e-10).x
        theirs = x[out] @ beta[1:]
        assert ours[out] == pytest.approx(theirs - theirs.mean(), abs=2e-3)


def test_constant_features_are_left_out():
    design, ridge = quadratic(np.ones((10, 3)))
    assert design.shape == (10, 0)
    assert len(ridge) == 0
    design, ridge = quadratic(np.column_stack([np.arange(10.0), np.ones(10)]))
    assert design.shape == (10, 2)
    assert ridge.tolist() == [RIDGE, RIDGE]
    labels = np.arange(40) < 20
    groups = np.arange(40) % 20
    folds = folds_of(labels, groups, 5, np.random.default_rng(2))
    assert (folds[:20] == folds[20:]).all()
    assert np.bincount(folds).tolist() == [8] * 5


def drawn(rng, n, k=6, *, shift=0.0, spread=1.0):
    rows = rng.normal(size=(n, k))
    rows[:, 2] = rows[:, 2] * spread + shift
    return rows


NAMES = list("abcdef")


def test_p_counts_the_shuffled_labels_that_do_as_well():
    rng, place = np.random.default_rng(3), np.arange(40)
    rows = rng.normal(size=(40, 3)).round(1)
    rows[:12, 0] += 0.5
    for same, told in [
        (None, [0.12, 0.08, 0.24, 0.23, 0.23]),
        (place**2 // 60, [0.53, 0.76, 0.57, 0.91, 0.78]),
    ]:
        found = [
            separability(rows[:12], rows[12:], seed, same=same) for seed in range(5)
        ]
        assert [one.p for one in found] == told


@pytest.mark.parametrize("how", [{"shift": 1.0}, {"spread": 3.0}])
def test_what_stands_out_is_refused_and_named(how):
    rng = np.random.default_rng(13)
    found = separability(drawn(rng, 250, **how), drawn(rng, 250), 1, names=NAMES, n_shuffles=19)  # fmt: skip
    assert found.stands_out
    assert found.estimate > 0.65
    assert "stand out" in found.verdict
    if "shift" in how:
        assert found.best_feature == "c"
        assert found.best_feature in found.verdict


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_are_not_measured(n):
    found = separability(np.ones((n, 2)), np.ones((30, 2)), 1, names=["a", "b"])
    assert not found.is_measured
    assert not found.stands_out
    assert found.verdict == f"Too few to measure: {n} test questions, 30 real items."


def test_items_alike_are_at_chance_seeds_repeat_and_nothing_may_be_left_to_choose():
    found = separability(np.ones((10, 2)), np.ones((30, 2)), 1, names=["a", "b"])
    assert (found.estimate, found.best_feature_auc, found.stands_out) == (
        0.5,
        0.5,
        False,
    )
    rng = np.random.default_rng(17)
    tests, items = drawn(rng, 20), drawn(rng, 30)
    assert separability(tests, items, 4, names=NAMES) == separability(tests, items, 4, names=NAMES)  # fmt: skip
    items = [Surface("a")]
    assert blend_in([], items, [3], seed=1) == []
    assert blend_in([Surface("b", input_key="x")], items, [3], seed=1) == [0]


@pytest.mark.parametrize(
    ("auc", "best", "n", "p", "refused"),
    [
        (0.7, 0.5, 400, 0.2, True),
        (0.5, 0.7, 400, 0.2, True),
        (0.7, 0.5, 20, 0.2, False),
        (0.7, 0.5, 20, 0.01, True),
        (0.6, 0.6, 400, 0.001, False),
    ],
)
def test_the_rule_with_few_and_with_many_tests(auc, best, n, p, refused):
    found = Separability(auc, 0.4, 0.9, "words", best, n, 800, p)
    assert found.stands_out is refused
    assert found.verdict.endswith(".")


def test_features_see_membership_and_overlap_and_pools_see_repeats():
    item = Surface(
        "A cat sat.", "Eine Katze sass.", ("a cat sat",), ("A dog sat.",), "i1", "b", 0.3, True
    )  # fmt: skip
    rows = surface_features([item, Surface("a cat sat", input_key="i1", key="a")])
    row = dict(zip(FEATURES, rows[0], strict=True))
    assert row["is a reference"] == row["words of a reference"] == 1.0
    assert row["is a published output"] == 0.0
    assert row["words of a published output"] == pytest.approx(2 / 3)
    assert row["input is listed"] == 1.0
    assert row["order of names"] > rows[1, FEATURES.index("order of names")]
    assert np.isfinite(surface_features([Surface("")])).all()
    assert surface_features([]).shape == (0, len(FEATURES))
    pool = {("i", "a cat"): 2, ("i", "a dog"): 1, ("j", "a cat"): 1}
    found = pooled_features([("i", "a cat"), ("j", "a cat")], pool)
    assert found.tolist() == [[3, 2, 0.5, 1], [1, 1, 0, 1]]


def test_chosen_tests_look_like_items_although_candidates_do_not():
    rng = np.random.default_rng(19)

    def texts(mean, n):
        lengths = rng.normal(mean, 2, n).clip(1, 30).astype(int)
        return [" ".join(["word"] * length) for length in lengths]

    items = [Surface(text) for text in texts(8, 80)]
    possible = [
        Surface(text, input_key=str(k % 150)) for k, text in enumerate(texts(11, 300))
    ]
    chosen = blend_in(possible, items, [30], seed=1)
    assert len(chosen) == len({possible[k].input_key for k in chosen}) == 30
    length = FEATURES.index("letters")
    of_items, of_all, of_chosen = (
        surface_features(one)[:, length].mean()
        for one in (items, possible, [possible[k] for k in chosen])
    )
    assert abs(of_chosen - of_items) < 0.3 * abs(of_all - of_items)
    assert blend_in(possible, items, [30], seed=1) == chosen
    assert blend_in(possible, items, [30], seed=2) != chosen


def test_good_texts_leave_inputs_to_wrong_ones_and_sure_texts_come_first():
    items = [Surface(text) for text in ("word " * 4, "word " * 8)]
    # two inputs have a good text; two long texts can be edited, one of a good text
    texts = ["word " * 9, "word " * 4, "word " * 8, "word " * 20]
    possible = [
        Surface(text, input_key=key) for text, key in zip(texts, "abac", strict=True)
    ]
    sides = [0, 0, 1, 1]
    assert sorted(blend_in(possible, items, [1, 1], seed=1, sides=sides)) == [1, 2]
    unsure = [False, True, False, False]
    chosen = blend_in(possible, items, [1, 1], seed=1, sides=sides, unsure=unsure)
    assert sorted(chosen) == [0, 3]
    assert sorted(blend_in(possible, items, [2, 2], seed=1, sides=sides)) == [0, 1, 3]
