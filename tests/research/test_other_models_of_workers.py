"""Models of workers against crowd-kit 1.4.2, on answers drawn with a fixed seed."""

import numpy as np
import pytest

from genie_research.crowds.dawid_skene import dawid_skene
from genie_research.crowds.mace import mace
from genie_research.crowds.straight import constant_answers, repeated_answers

# DawidSkene(n_iter=2000, tol=1e-13): priors_ and the diagonals of errors_
PRIOR = [0.399995, 0.2, 0.400005]
DIAGONALS = [
    [0.899999, 1.0, 0.949988],
    [0.850005, 1.0, 0.899995],
    [1.0, 1.0, 0.79999],
    [0.85, 0.8, 0.749993],
    [0.699998, 0.8, 0.799991],
    [0.8, 0.7, 0.799992],
    [0.600005, 0.5, 0.699995],
    [0.450001, 0.7, 0.300004],
]
# MACE(method="em", n_iter=300, n_restarts=1): second column of spamming_
COMPETENCE = [0.917, 0.85, 0.889, 0.691, 0.638, 0.676, 0.404, 0.179]


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(79)
    item, worker = np.divmod(np.arange(400), 8)
    truth = rng.integers(0, 3, 50)
    right = np.array([0.9, 0.85, 0.8, 0.8, 0.7, 0.6, 0.34, 0.34])
    guess = rng.random(400) < right[worker]
    return item, worker, np.where(guess, truth[item], rng.integers(0, 3, 400))


def test_dawid_and_skene_as_crowd_kit_has_it(answers):
    found = dawid_skene(*answers, n_iterations=2000, tolerance=1e-13)
    assert found.prior == pytest.approx(PRIOR, abs=2e-6)
    diagonals = np.diagonal(found.confusion, axis1=1, axis2=2)
    assert diagonals == pytest.approx(np.array(DIAGONALS), abs=2e-6)
    assert found.informed.argmin() == 7


def test_mace_as_crowd_kit_has_it(answers):
    found = mace(*answers, smoothing=0.01 / 3, n_iterations=300, seed=1)
    assert found.competence == pytest.approx(COMPETENCE, abs=1e-3)


def test_no_answers_and_one_answer():
    none = np.zeros(0, dtype=np.int64)
    assert dawid_skene(none, none, none).informed.shape[0] == 0
    assert mace(none, none, none, seed=1).competence.shape == (0,)
    one = np.zeros(1, dtype=np.int64)
    assert dawid_skene(one, one, one).prior.tolist() == [1.0]
    assert np.isfinite(mace(one, one, one, seed=1).competence).all()
    assert repeated_answers(one, one, 2).tolist() == [0, 0]
    assert constant_answers(none, none, 1).tolist() == [0]
