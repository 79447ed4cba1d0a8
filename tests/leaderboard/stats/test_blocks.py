"""Balanced incomplete blocks: every system and every pair about equally often."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.blocks import balanced_blocks


def meetings(blocks, n):
    inside = np.zeros((len(blocks), n), dtype=int)
    for row, block in enumerate(blocks):
        inside[row, block] = 1
    return inside.T @ inside


@pytest.mark.parametrize(
    ("n", "size", "n_blocks"), [(21, 5, 630), (9, 5, 100), (4, 2, 7), (8, 8, 3)]
)
def test_systems_and_pairs_are_balanced(n, size, n_blocks):
    blocks = balanced_blocks(n, size, n_blocks, seed=3)
    assert all(len(set(block)) == size for block in blocks)
    met = meetings(blocks, n)
    counts = np.diag(met)
    assert counts.max() - counts.min() <= 1
    pairs = met[np.triu_indices(n, 1)]
    # random choices of the size of the E2E challenge differ by some 25
    assert pairs.max() - pairs.min() <= 4


def test_the_seed_decides():
    blocks = balanced_blocks(6, 3, 20, seed=1)
    assert blocks == balanced_blocks(6, 3, 20, seed=1)
    assert blocks != balanced_blocks(6, 3, 20, seed=2)
    # a longer design begins like a shorter one
    assert blocks[:5] == balanced_blocks(6, 3, 5, seed=1)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_blocks_that_do_not_fit_are_refused(size):
    with pytest.raises(ValueError, match="A block holds"):
        balanced_blocks(6, size, 3, seed=1)
