"""What a joint evaluation computes depends on ratings, not on who is called what."""

import numpy as np
import pandas as pd
import pytest

from crowd.scales.base import all_scales
from leaderboard.designs.base import unit_of
from leaderboard.evaluation.services.ranking_numbers import numbers_of
from leaderboard.stats.systems.estimates import Population

SYSTEMS = [31, 7, 12]
UNIT = unit_of(all_scales()["magnitude"])


def ratings_of(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (instance, worker, submission, float(rng.choice([0.5, 1.0, 1.0, 2.0, 3.0])))
        for instance in range(9)
        for worker in rng.permutation(5)[:3].tolist()
        for submission in SYSTEMS
    ]
    return pd.DataFrame(rows, columns=["instance", "worker", "submission", "value"])


def numbers(ratings, **options):
    return numbers_of(ratings, SYSTEMS, unit=UNIT, seed=5, n_resamples=200, **options)


@pytest.mark.parametrize("seed", range(3))
def test_other_names_and_another_order_give_the_same_bits(seed):
    ratings = ratings_of(seed)
    names = dict(enumerate(["r-d", "r-a", "r-e", "r-c", "r-b"]))
    renamed = ratings.assign(worker=ratings["worker"].map(names))
    assert numbers(renamed) == numbers(ratings)
    shuffled = renamed.sample(frac=1, random_state=seed)
    assert numbers(shuffled) == numbers(ratings)


def test_a_judgement_of_some_systems_only_counts_for_those():
    ratings = ratings_of(1)
    whole, found = numbers(ratings), numbers(ratings.drop(index=0))
    assert whole["n_judgements"] == found["n_judgements"] == 27
    games = [sum(map(sum, filter(None, row))) for row in found["win_tie_loss"]]
    before = [sum(map(sum, filter(None, row))) for row in whole["win_tie_loss"]]
    # the one that was not shown has lost two games, its rivals one each
    assert sorted(b - g for b, g in zip(before, games, strict=True)) == [1, 1, 2]


def test_five_of_nine_systems_a_page_are_ranked_together():
    rng = np.random.default_rng(4)
    systems = list(range(9))
    rows = [
        (page, page % 12, system, float(np.exp(0.2 * system + rng.normal(0, 0.3))))
        for page in range(120)
        for system in rng.permutation(9)[:5].tolist()
    ]
    ratings = pd.DataFrame(rows, columns=["instance", "worker", "submission", "value"])
    found = numbers_of(ratings, systems, unit=UNIT, seed=1, n_resamples=200)
    assert [row["rank_first"] for row in found["systems"]][-1] == 1
    best = found["systems"][-1]
    assert (best["skill_rank_first"], best["skill_rank_last"]) == (1, 1)
    assert best["skill_rank_kept"] == 1.0
    skills, strengths = (
        [row[name] for row in found["systems"]] for name in ("skill", "strength")
    )
    for values in (skills, strengths):
        assert sum(values) == pytest.approx(0, abs=1e-9)
        assert np.argsort(values).tolist() == systems


def test_one_persons_order_makes_no_clusters():
    ratings = ratings_of(2).assign(worker="only")
    ratings = ratings.drop_duplicates(["instance", "submission"])
    ratings["value"] *= ratings["submission"]
    found = numbers(ratings)
    assert {row["cluster"] for row in found["systems"]} == {1}
    assert {row["skill_cluster"] for row in found["systems"]} == {1}
    assert all(np.isfinite([row["low"], row["high"]]).all() for row in found["systems"])
    assert "crowd of workers" in found["covers"]
    # about this person, instances vary
    these = numbers(ratings, population=Population.THESE)
    for shown, known in ((found, False), (these, True)):
        assert {row["skill_low"] is not None for row in shown["systems"]} == {known}
    assert found["systems"][0]["skill_low"] is None
    assert found["systems"][0]["strength"] is None
    assert found["no_strengths"]


def test_nothing_that_counts_gives_no_systems():
    assert numbers(ratings_of(1).iloc[:0]) == {"n_judgements": 0, "systems": []}
    ratings = ratings_of(1)
    without = ratings[ratings["submission"] != SYSTEMS[0]]
    assert numbers(without)["systems"] == []
