"""Balanced incomplete blocks: every system and every pair about equally often."""

import numpy as np
import pytest

from leaderboard.stats.blocks import balanced_blocks


def meetings(blocks, n):
    inside = np.zeros((len(blocks), n), dtype=int)
    for row, block in enumerate(blocks):
        inside[row, block] = 1
    return inside.T @ inside


@pytest.mark.parametrize(
    ("n", "size", "n_blocks", "apart"),
    # what is left of these after as many rounds as fit cannot be shared out equally
    [
        (21, 5, 1413, 1), (9, 5, 100, 2), (4, 2, 7, 1), (8, 8, 3, 0), (30, 2, 1000, 1),
        # balanced incomplete block designs: every pair as often as every other
        (7, 3, 7, 0), (13, 4, 26, 0), (21, 5, 21, 0), (6, 3, 10, 0), (12, 4, 33, 0),
        # no such design is known to be reached
        (100, 5, 300, 2), (5, 3, 1, 1), (20, 5, 80, 1),
    ],
)  # fmt: skip
def test_systems_and_pairs_are_balanced(n, size, n_blocks, apart):
    blocks = balanced_blocks(n, size, n_blocks, seed=3)
    assert all(len(set(block)) == size for block in blocks)
    met = meetings(blocks, n)
    counts = np.diag(met)
    assert counts.max() - counts.min() <= 1
    pairs = met[np.triu_indices(n, 1)]
    # random choices of the size of the E2E challenge differ by some 40
    assert pairs.max() - pairs.min() <= apart


def test_the_seed_decides():
    blocks = balanced_blocks(6, 3, 20, seed=1)
    assert blocks == balanced_blocks(6, 3, 20, seed=1)
    assert blocks != balanced_blocks(6, 3, 20, seed=2)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_blocks_that_do_not_fit_are_refused(size):
    with pytest.raises(ValueError, match="A block holds"):
        balanced_blocks(6, size, 3, seed=1)
