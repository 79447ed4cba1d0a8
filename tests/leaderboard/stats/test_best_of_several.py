"""The interval of the best of several, against published tables and by simulation."""

import numpy as np
import pytest

from leaderboard.stats.multiplicity import widening_factor

# Two-sided 5% points of the maximum modulus with infinitely many degrees of freedom
# (Stoline and Ury 1979, Technometrics 21, table 1).
PUBLISHED = {1: 1.960, 2: 2.236, 3: 2.388, 4: 2.491, 5: 2.569, 10: 2.800}


@pytest.mark.parametrize(("n", "point"), PUBLISHED.items())
def test_points_are_the_published_ones(n, point):
    assert 1.959964 * widening_factor(n) == pytest.approx(point, abs=6e-4)


@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize("gap", [0.0, 0.5, 50.0])
@pytest.mark.parametrize("n", [2, 7, 20])
def test_the_true_value_of_the_best_is_covered(n, gap, shared):
    # n systems, each `gap` standard errors better than the one before; what they share
    # are instances
    draw = np.random.default_rng(7)
    true = gap * np.arange(n)
    noise = np.sqrt(shared) * draw.normal(size=(20_000, 1))
    noise = noise + np.sqrt(1 - shared) * draw.normal(size=(20_000, n))
    best = (true + noise).argmax(axis=1)
    error = np.abs(noise[np.arange(len(best)), best])
    assert (error <= 1.959964 * widening_factor(n)).mean() >= 0.947
    if n == 20 and gap == shared == 0:
        # without a correction it would be 0.60
        assert (error <= 1.959964).mean() < 0.65
