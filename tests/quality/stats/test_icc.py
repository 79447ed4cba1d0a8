"""Intraclass correlations: six forms, against published values, models and coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from quality.agreement.icc import ICC_FORMS, icc, icc_forms, icc_one_way
from tests.quality.stats.truth import rows, truth
from tests.shared import needs_shared

#: Six targets, four judges: the example of Shrout and Fleiss (1979), table 2.
JUDGES = np.array(
    [
        [9, 2, 5, 8],
        [6, 1, 3, 2],
        [8, 4, 6, 8],
        [7, 1, 2, 6],
        [10, 5, 6, 9],
        [6, 2, 4, 7],
    ]
)
#: Their table 4, with intervals as other implementations print them.
PUBLISHED = {
    "ICC1": (0.17, -0.133, 0.723),
    "ICC2": (0.29, 0.019, 0.761),
    "ICC3": (0.71, 0.342, 0.946),
    "ICC1k": (0.44, -0.884, 0.912),
    "ICC2k": (0.62, 0.071, 0.927),
    "ICC3k": (0.91, 0.676, 0.986),
}


def simulated(n_items, n_raters, rng, *, item=1.0, rater=0.0, noise=1.0):
    return (
        rng.normal(0, item, (n_items, 1))
        + rng.normal(0, rater, (1, n_raters))
        + rng.normal(0, noise, (n_items, n_raters))
    )


@pytest.mark.parametrize("form", ICC_FORMS)
def test_the_classic_example_has_its_published_values(form):
    found = icc(JUDGES, form)
    value, low, high = PUBLISHED[form]
    assert found.estimate == pytest.approx(value, abs=0.005)
    assert found.low == pytest.approx(low, abs=0.001)
    assert found.high == pytest.approx(high, abs=0.001)
    assert found == icc_forms(JUDGES)[form]


def test_mean_squares_are_those_of_an_analysis_of_variance():
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    ratings = simulated(12, 4, np.random.default_rng(0), rater=0.7)
    long = (
        pd.DataFrame(ratings).melt(ignore_index=False, var_name="rater").reset_index()
    )
    table = anova.anova_lm(formula.ols("value ~ C(index) + C(rater)", long).fit())
    assert icc(ratings, "ICC3").f == pytest.approx(table.loc["C(index)", "F"], rel=1e-8)
    assert icc(ratings, "ICC3").p == pytest.approx(table.loc["C(index)", "PR(>F)"])
    one_way = anova.anova_lm(formula.ols("value ~ C(index)", long).fit())
    assert icc(ratings, "ICC1").f == pytest.approx(
        one_way.loc["C(index)", "F"], rel=1e-8
    )


@pytest.mark.parametrize("average", [False, True])
def test_one_way_on_equal_groups_is_the_complete_form(average):
    complete = icc(JUDGES, "ICC1k" if average else "ICC1")
    found = icc_one_way(list(JUDGES), average=average)
    assert found.estimate == pytest.approx(complete.estimate, abs=1e-12)
    assert found.low == pytest.approx(complete.low, abs=1e-12)


def test_unequal_groups_use_the_f_of_scipy():
    groups = [[1, 2, 2], [5, 4], [7], [3, 3, 4, 5]]
    found = icc_one_way(groups)
    f, p = stats.f_oneway(*groups)
    assert (found.f, found.p) == (pytest.approx(f), pytest.approx(p))
    assert found.estimate == pytest.approx(1 - 1 / f)
    assert found.n_raters == pytest.approx((10 - 30 / 10) / 3)


def test_averaged_forms_shifts_and_items_alike_do_as_their_definitions_say():
    for single in ("ICC1", "ICC2", "ICC3"):
        one, mean = icc(JUDGES, single), icc(JUDGES, single + "k")
        for end in ("estimate", "low", "high"):
            rho = getattr(one, end)
            assert getattr(mean, end) == pytest.approx(4 * rho / (1 + 3 * rho))
    ratings = simulated(30, 3, np.random.default_rng(2))
    shifted = ratings + np.array([0, 0, 5])
    assert icc(shifted, "ICC3").estimate == pytest.approx(icc(ratings, "ICC3").estimate)
    assert icc(shifted, "ICC2").estimate < icc(ratings, "ICC2").estimate / 2
    found = icc([[1, 2, 3], [3, 1, 2], [2, 3, 1]], "ICC1")
    assert found.estimate == pytest.approx(-0.5)
    assert np.isfinite(found.low)


@pytest.mark.parametrize("form", ICC_FORMS)
def test_order_of_items_and_raters_scale_and_origin_change_nothing(form):
    rng = np.random.default_rng(1)
    ratings = simulated(9, 4, rng, rater=0.5)
    shuffled = ratings[rng.permutation(9)][:, rng.permutation(4)]
    moved = 1e4 + 37 * shuffled
    for other in (shuffled, moved):
        assert icc(other, form).estimate == pytest.approx(
            icc(ratings, form).estimate, abs=1e-9
        )
        assert icc(other, form).low == pytest.approx(icc(ratings, form).low, abs=1e-9)


@pytest.mark.parametrize("form", ICC_FORMS)
def test_perfect_raters_agree_perfectly(form):
    found = icc([[1.1, 1.1, 1.1], [2.3, 2.3, 2.3], [7.7, 7.7, 7.7]], form)
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p == 0


@pytest.mark.parametrize("form", ICC_FORMS)
@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1])
def test_ratings_that_never_differ_have_no_correlation(form, constant):
    found = icc(np.full((5, 3), constant), form)
    assert np.isnan([found.estimate, found.low, found.high, found.f, found.p]).all()


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        ([[1, 2]], "two items"),
        ([[1], [2]], "two items"),
        ([], "two items"),
        ([1, 2, 3], "two items"),
        ([[1, float("nan")], [2, 3]], "every rating"),
        ([[1, float("inf")], [2, 3]], "every rating"),
    ],
)
def test_tables_without_an_icc_are_refused_in_words(ratings, words):
    with pytest.raises(ValueError, match=words):
        icc(ratings)
    with pytest.raises(ValueError, match=words):
        icc_forms(ratings)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([[1, 2]], "two items"),
        ([[1, 2], []], "at least one rating"),
        ([[1], [2]], "item with at least two"),
    ],
)
def test_groups_without_an_icc_are_refused_in_words(groups, words):
    with pytest.raises(ValueError, match=words):
        icc_one_way(groups)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "rater"), [("ICC1", 0.0), ("ICC2", 0.5), ("ICC3", 0.5), ("ICC3k", 0.5)]
)
def test_95_percent_intervals_cover_95_percent(form, rater):
    rng = np.random.default_rng(7)
    n_raters = 12 if form == "ICC2" else 3
    variance = rater**2 if form == "ICC2" else 0.0
    single = 1 / (1 + variance + 1)
    true = 3 * single / (1 + 2 * single) if form == "ICC3k" else single
    hits = 0
    for _ in range(200):
        found = icc(simulated(20, n_raters, rng, rater=rater), form)
        hits += found.low <= true <= found.high
    # four standard errors of so few
    assert hits / 200 >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)


@needs_shared
@pytest.mark.parametrize("method", ["likert", "plainme", "rankme"])
@pytest.mark.parametrize(
    ("setup", "criterion"),
    [
        (1, "informativeness"),
        (1, "naturalness"),
        (1, "quality"),
        (2, "informativeness"),
        (2, "naturalness"),
    ],
)
def test_rankme_table_3_comes_back_in_all_six_forms(method, criterion, setup):
    name = f"setup1_{method}" if setup == 1 else f"setup2_{method}_{criterion}"
    items = {}
    for row in rows(f"rankme/{name}.csv"):
        item = items.setdefault((row["mr_id"], row["system"]), [])
        item.append(float(row[criterion]))
    ratings = np.array([scores[:3] for scores in items.values()])
    known = truth()[f"rankme.icc_all.setup{setup}.{method}.{criterion}"]
    for scale, table in (("raw", ratings), ("log", np.log(ratings))):
        for form, found in icc_forms(table).items():
            assert found.estimate == pytest.approx(
                known["expected"][scale][form], abs=known["tol"]
            )
        assert icc(table, "ICC1").p == pytest.approx(
            known["expected"][scale]["p1"], abs=known["tol"]
        )
    used = ratings if method == "likert" else np.log(ratings)
    headline = truth()[f"rankme.icc1k.setup{setup}.{method}.{criterion}"]
    assert icc(used, "ICC1k").estimate == pytest.approx(
        headline["expected"], abs=headline["tol"]
    )


@needs_shared
@pytest.mark.parametrize(
    ("criterion", "value"), [("naturalness", 0.072), ("quality", 0.013)]
)
def test_all_judgements_of_unequal_items_change_the_icc(criterion, value):
    items = {}
    for row in rows("rankme/setup1_likert.csv"):
        item = items.setdefault((row["mr_id"], row["system"]), [])
        item.append(float(row[criterion]))
    assert sum(map(len, items.values())) == 914
    assert icc_one_way(list(items.values())).estimate == pytest.approx(value, abs=5e-4)
