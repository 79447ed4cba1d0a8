import itertools
import json

import numpy as np
import pandas as pd
import pytest

from genie_research.boards.design_study import study_designs
from genie_research.boards.label_table import (
    draw_estimates,
    exact_sd,
    label_table,
    majority,
)
from tests.shared import SHARED, needs_shared

rng = np.random.default_rng(51)
N, K = 90, 4
QUALITY = rng.beta(1.5, 1, N)
LABELS = (
    np.clip(np.rint(4 * (QUALITY[:, None] + rng.normal(0, 0.25, (N, K)))), 0, 4) / 4
)
INSTANCES = np.repeat(np.arange(N), K)


def by_name(results):
    return {(r.elicitation, r.aggregation, r.labeling): r for r in results}


def test_the_eight_designs_are_studied_once_each():
    results = study_designs(LABELS.ravel(), INSTANCES, seed=1)
    expected = set(
        itertools.product(
            ("likert", "binary"), ("mean", "majority"), ("unilabel", "multilabel")
        )
    )
    assert set(by_name(results)) == expected
    assert len(results) == 8
    for result in results:
        spent = result.n_instances * result.labels_per_instance
        assert spent == N


def test_simulated_spread_is_the_exact_one():
    for result in study_designs(LABELS.ravel(), INSTANCES, seed=2, n_rounds=4_000):
        if result.sd_exact is not None:
            assert result.sd == pytest.approx(result.sd_exact, rel=0.05)
            # a score of averages is the mean of the instances' means
            values = LABELS if result.elicitation == "likert" else LABELS > 0.5
            margin = 5 * result.sd / 4_000**0.5
            assert result.mean == pytest.approx(values.mean(), abs=margin)
        else:
            assert (result.aggregation, result.labeling) == ("majority", "multilabel")


def test_the_exact_spread_is_that_of_every_possible_study():
    rows = [[0.0, 1.0, 1.0], [0.5, 0.5, 1.0]]
    table = label_table(np.ravel(rows), np.repeat(["a", "b"], 3))
    one = [np.mean(pair) for row in rows for pair in itertools.combinations(row, 2)]
    studies = [(x + y) / 2 for x, y in itertools.product(one, one)]
    found = exact_sd(table, n_instances=2, labels_per_instance=2)
    assert found == pytest.approx(np.std(studies))


def test_majorities_take_the_mode_and_split_ties_evenly():
    drawn = np.array([[1, 1, 0.0], [0.25, 0.5, 0.75], [0, 0, 1.0], [1, 1, 1]])
    assert majority(drawn).tolist() == [1, 0.5, 0, 1]
    assert majority(np.array([[0.0, 0.0, 1.0, 1.0]])).tolist() == [0.5]
    assert majority(np.array([[0.75]])).tolist() == [0.75]


def test_labels_are_drawn_without_replacement_and_never_made_up():
    table = label_table([0, 0, 1, 1, 1], ["a", "a", "a", "b", "b"])
    whole = draw_estimates(
        table,
        n_instances=1,
        labels_per_instance=2,
        n_sets=3_000,
        rng=np.random.default_rng(1),
    )
    # of instance a, two of 0, 0, 1: 0 (a third) or 1/2; of instance b always 1
    assert set(np.unique(whole)) == {0.0, 0.5, 1.0}
    assert np.mean(whole == 0) == pytest.approx(1 / 6, abs=0.03)
    assert np.mean(whole == 1) == pytest.approx(1 / 2, abs=0.03)


def test_days_are_studied_apart():
    days = np.tile(["mon", "tue"], N * K // 2)
    drift = np.where(days == "tue", 0.25, 0.0)
    values = np.clip(LABELS.ravel() * 0.75 + drift, 0, 1)
    found = study_designs(values, INSTANCES, days=days, seed=1, labels_per_instance=2)
    for result in found:
        assert set(result.day_means) == {"mon", "tue"}
        assert result.sd_between_days == pytest.approx(
            abs(result.day_means["mon"] - result.day_means["tue"]) / 2**0.5
        )
    likert = by_name(found)["likert", "mean", "unilabel"]
    assert likert.day_means["tue"] - likert.day_means["mon"] == pytest.approx(
        0.25, abs=0.05
    )
    without = study_designs(LABELS.ravel(), INSTANCES, seed=1)[0]
    assert without.sd_between_days is None


def test_other_scales_are_mapped_to_zero_to_one():
    plain = study_designs(LABELS.ravel(), INSTANCES, seed=3)
    stretched = study_designs(LABELS.ravel() * 4 + 1, INSTANCES, seed=3, scale=(1, 5))
    for a, b in zip(plain, stretched, strict=True):
        assert (a.mean, a.sd) == pytest.approx((b.mean, b.sd))


def test_order_and_names_of_instances_change_nothing():
    order = rng.permutation(N * K)
    names = np.array([f"i{k}" for k in rng.permutation(N)])
    plain = study_designs(LABELS.ravel(), INSTANCES, seed=3)
    moved = study_designs(LABELS.ravel()[order], names[INSTANCES][order], seed=3)
    assert moved == plain


def test_studies_that_cannot_be_are_refused_in_words():
    values = LABELS.ravel()
    with pytest.raises(ValueError, match="no labels"):
        study_designs([], [], seed=1)
    with pytest.raises(ValueError, match="on the scale"):
        study_designs(values * 5, INSTANCES, seed=1)
    with pytest.raises(ValueError, match="has 4 labels, but 5"):
        study_designs(values, INSTANCES, seed=1, labels_per_instance=5)
    with pytest.raises(ValueError, match="less than one instance"):
        study_designs(values, INSTANCES, seed=1, budget=2)
    with pytest.raises(ValueError, match="two labels"):
        study_designs(values, INSTANCES, seed=1, labels_per_instance=1)


@needs_shared
@pytest.mark.parametrize("name", ["v1", "r1"])
def test_real_labels_have_the_known_spread_under_both_labelings(name):
    truth = json.loads((SHARED / "data" / "truth.json").read_text())["items"]
    item = next(i for i in truth if i["id"] == f"unilabel.sd.{name}")
    frame = pd.read_csv(SHARED / "data" / item["data"])
    found = by_name(
        study_designs(
            (frame["winner"] == "CGA").astype(float),
            frame["pair_id"],
            seed=1,
            budget=150,
            n_rounds=5_000,
        )
    )
    for labeling, expected in (("unilabel", "uni"), ("multilabel", "multi")):
        result = found["binary", "mean", labeling]
        assert result.sd_exact == pytest.approx(item["expected"][expected], abs=1e-6)
        assert result.sd == pytest.approx(item["expected"][expected], rel=0.03)
