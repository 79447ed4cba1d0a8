"""Chance-corrected agreement: Krippendorff, Fleiss, Cohen, and plain percentages."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

from quality.agreement.item_bootstrap import item_interval
from quality.agreement.kappa import cohen_kappa, fleiss_kappa, percentage_agreement
from quality.agreement.krippendorff import LEVELS, krippendorff_alpha
from quality.agreement.label_counts import label_counts, tally
from tests.quality.stats.truth import rows, truth
from tests.shared import needs_shared

NAN = float("nan")
#: Four observers, twelve units, seven values missing: Krippendorff's own example.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
PUBLISHED = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}


def alpha(ratings, level="nominal"):
    return krippendorff_alpha(ratings, level, n_resamples=0).estimate


def by_pairs(ratings, level):
    units = [unit[~np.isnan(unit)] for unit in np.asarray(ratings, dtype=float)]
    units = [unit for unit in units if len(unit) > 1]
    values = np.concatenate(units)

    def ordinal(a, b):
        low, high = min(a, b), max(a, b)
        between = ((values >= low) & (values <= high)).sum()
        return (between - ((values == a).sum() + (values == b).sum()) / 2) ** 2

    distance = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else 0.0,
    }[level]
    n = len(values)
    observed = sum(
        sum(distance(a, b) for a, b in itertools.permutations(unit, 2))
        / (len(unit) - 1)
        for unit in units
    )
    expected = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize("level", LEVELS)
def test_the_classic_example_has_its_published_alphas(level):
    assert alpha(OBSERVERS, level) == pytest.approx(PUBLISHED[level], abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_alpha_equals_its_definition_by_pairs(level, seed):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 6, (15, 4)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    assert alpha(ratings, level) == pytest.approx(by_pairs(ratings, level), abs=1e-12)


def test_words_agree_as_numbers_do():
    words = np.where(
        np.isnan(OBSERVERS),
        None,
        np.char.add("w", OBSERVERS.astype("U4")).astype(object),
    )
    assert alpha(words) == pytest.approx(alpha(OBSERVERS))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "ratings", [[[2, 2], [2, 2]], [[1, NAN], [NAN, 2]], [[NAN, NAN]], np.empty((0, 3))]
)
def test_without_pairs_or_variation_alpha_is_undefined(level, ratings):
    found = krippendorff_alpha(ratings, level, n_resamples=50)
    assert np.isnan([found.estimate, found.low, found.high]).all()


def test_thousands_of_distinct_values_are_no_trouble():
    rng = np.random.default_rng(1)
    ratings = rng.normal(50, 10, (700, 1)) + rng.normal(0, 10, (700, 3))
    found = krippendorff_alpha(ratings, "interval", n_resamples=20)
    assert found.estimate == pytest.approx(0.5, abs=0.06)
    assert found.n_ratings == 2_100


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_holds_the_estimate_and_narrows_with_items(level):
    rng = np.random.default_rng(5)

    def interval(n_items):
        true = rng.integers(1, 6, (n_items, 1))
        noise = rng.integers(-1, 2, (n_items, 3))
        found = krippendorff_alpha(np.clip(true + noise, 1, 5), level, n_resamples=300)
        assert found.low < found.estimate < found.high
        return found.high - found.low

    assert interval(400) < interval(40) * 0.6


def test_the_same_seed_gives_the_same_interval():
    ends = [krippendorff_alpha(OBSERVERS, "ordinal", seed=seed) for seed in (1, 1, 2)]
    assert ends[0] == ends[1]
    assert (ends[0].low, ends[0].high) != (ends[2].low, ends[2].high)
    found = krippendorff_alpha([[1, 1]] * 5 + [[2, 2]], n_resamples=400)
    assert found.estimate == 1.0
    assert 50 < found.n_undefined < 250


@pytest.mark.parametrize(
    ("ratings", "level", "words"),
    [
        ([[-1, 2]], "ratio", "from 0 on"),
        ([["a", "b"]], "interval", "words"),
        ([["a", 1]], "nominal", "all words or all numbers"),
        ([[1, float("inf")]], "interval", "finite"),
        ([[object(), object()]], "nominal", "words or numbers"),
    ],
)
def test_ratings_without_an_alpha_are_refused_in_words(ratings, level, words):
    with pytest.raises(ValueError, match=words):
        krippendorff_alpha(ratings, level)


def test_ratings_line_by_line_count_like_a_table():
    table = label_counts(OBSERVERS)
    items, _ = np.indices(OBSERVERS.shape)
    order = np.random.default_rng(0).permutation(OBSERVERS.size)
    names = np.char.add("item ", items.ravel().astype("U2"))[order]
    lines = tally(names, OBSERVERS.ravel()[order])
    assert krippendorff_alpha(
        lines, "ordinal", n_resamples=0
    ).estimate == pytest.approx(
        krippendorff_alpha(table, "ordinal", n_resamples=0).estimate
    )


@pytest.mark.parametrize("n_values", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_fleiss_kappa_equals_that_of_statsmodels(n_values, seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_values, (60, 1))
    ratings = np.where(
        rng.random((60, 5)) < 0.6, true, rng.integers(0, n_values, (60, 5))
    )
    table, _ = inter_rater.aggregate_raters(ratings)
    assert fleiss_kappa(ratings, n_resamples=0).estimate == pytest.approx(
        inter_rater.fleiss_kappa(table), abs=1e-12
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(3))
def test_cohens_kappa_and_its_interval_equal_those_of_statsmodels(weights, seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 5, 80)
    second = np.where(rng.random(80) < 0.6, first, rng.integers(1, 5, 80))
    table = np.zeros((4, 4))
    np.add.at(table, (first - 1, second - 1), 1)
    expected = inter_rater.cohens_kappa(table, wt=weights)
    found = cohen_kappa(first, second, weights=weights)
    assert found.estimate == pytest.approx(expected.kappa, abs=1e-12)
    assert found.low == pytest.approx(expected.kappa_low, abs=1e-9)
    assert found.high == pytest.approx(expected.kappa_upp, abs=1e-9)


def test_kappas_of_agreement_contradiction_constants_and_gaps():
    both = [[1, 1, 1], [2, 2, 2]]
    assert fleiss_kappa(both).estimate == 1.0
    assert cohen_kappa([1, 2, 2], [1, 2, 2]).estimate == 1.0
    assert np.isnan(fleiss_kappa([[1, 1], [1, 1]]).estimate)
    assert np.isnan(cohen_kappa([1, 1], [1, 1]).estimate)
    assert np.isnan(cohen_kappa([], []).estimate)
    assert np.isnan(cohen_kappa([1, None], [None, 1]).estimate)
    assert cohen_kappa([1, 2, 1, 2], [2, 1, 2, 1]).estimate == -1.0
    assert fleiss_kappa([[1, 2], [2, 1]]).estimate == -1.0
    found = cohen_kappa(["a", "b", None, "a"], ["a", "b", "b", float("nan")])
    assert (found.n_items, found.estimate) == (2, 1.0)


@pytest.mark.parametrize("ratings", [[[1, NAN], [1, 2]], [[1], [2]], np.empty((0, 2))])
def test_fleiss_kappa_refuses_unequal_numbers_of_ratings(ratings):
    with pytest.raises(ValueError, match="Krippendorff"):
        fleiss_kappa(ratings)


def test_percentage_agreement_is_the_mean_share_of_agreeing_pairs():
    ratings = [[1, 1, 1], [1, 1, 2], [1, 2, 3], [4, 4, NAN], [5, NAN, NAN]]
    found = percentage_agreement(ratings)
    assert found.estimate == pytest.approx((1 + 1 / 3 + 0 + 1) / 4)
    assert found.n_items == 4
    assert 0 <= found.low < found.estimate < found.high <= 1
    assert np.isnan(percentage_agreement([[1, NAN]]).estimate)


def test_the_bootstrap_of_a_mean_has_its_standard_error():
    values = np.random.default_rng(0).normal(size=400)
    low, high, undefined = item_interval(
        lambda drawn: drawn @ values / 400,
        400, n_resamples=4_000, seed=1,
    )  # fmt: skip
    assert undefined == 0
    assert (high - low) / (2 * 1.96 * values.std() / 20) == pytest.approx(1, abs=0.05)

    def mean(drawn):
        return drawn.mean(axis=1)

    low, high, _ = item_interval(mean, 0, n_resamples=5, seed=0)
    assert np.isnan([low, high]).all()


@pytest.mark.slow
@pytest.mark.parametrize("measure", [fleiss_kappa, krippendorff_alpha])
def test_95_percent_intervals_cover_95_percent(measure):
    """Two equally frequent values, each rater right with .8: kappa is .36 exactly."""
    rng = np.random.default_rng(2)
    hits = 0
    for index in range(100):
        true = rng.integers(0, 2, (150, 1))
        ratings = np.where(rng.random((150, 4)) < 0.8, true, 1 - true)
        found = measure(ratings, n_resamples=400, seed=index)
        hits += found.low <= 0.36 <= found.high
    # four standard errors of so few
    assert hits / 100 >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 100)


@needs_shared
@pytest.mark.parametrize("name", ["v1", "r1"])
def test_the_kappas_of_the_dynamic_paper_are_of_sides_not_of_systems(name):
    sides, systems = defaultdict(list), defaultdict(list)
    for row in rows(f"dynamic/{name}.csv"):
        sides[row["pair_id"]].append(row["side"])
        systems[row["pair_id"]].append(row["winner"])
    for labels, key in ((sides, "kappa"), (systems, "kappa_by_model")):
        known = truth()[f"dynamic.{key}.{name}"]
        found = fleiss_kappa(list(labels.values()), n_resamples=200)
        assert found.estimate == pytest.approx(known["expected"], abs=known["tol"])
        assert found.low < found.estimate < found.high
