"""What a joint evaluation computes depends on ratings, not on who is called what."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowd.scales.base import all_scales
from leaderboard.designs.unit import unit_of
from leaderboard.evaluation.services.ranking_numbers import numbers_of

SYSTEMS = [31, 7, 12]
UNIT = unit_of(all_scales()["magnitude"])


def ratings_of(seed):
    """Give three workers' magnitudes of each of nine instances, many of them equal."""
    rng = np.random.default_rng(seed)
    rows = [
        (instance, worker, submission, float(rng.choice([0.5, 1.0, 1.0, 2.0, 3.0])))
        for instance in range(9)
        for worker in rng.permutation(5)[:3].tolist()
        for submission in SYSTEMS
    ]
    return pd.DataFrame(rows, columns=["instance", "worker", "submission", "value"])


def numbers(ratings):
    return numbers_of(ratings, SYSTEMS, unit=UNIT, seed=5, n_resamples=200)


@pytest.mark.parametrize("seed", range(6))
def test_other_names_and_another_order_give_the_same_bits(seed):
    ratings = ratings_of(seed)
    names = dict(enumerate(["r-d", "r-a", "r-e", "r-c", "r-b"]))
    renamed = ratings.assign(worker=ratings["worker"].map(names))
    assert numbers(renamed) == numbers(ratings)
    shuffled = renamed.sample(frac=1, random_state=seed)
    assert numbers(shuffled) == numbers(ratings)


def test_a_judgement_of_some_systems_only_is_left_out():
    ratings = ratings_of(1)
    found = numbers(ratings.drop(index=0))
    assert numbers(ratings)["n_judgements"] == 27
    assert found["n_judgements"] == 26


def test_nothing_that_counts_gives_no_systems():
    assert numbers(ratings_of(1).iloc[:0]) == {"n_judgements": 0, "systems": []}
