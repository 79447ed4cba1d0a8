"""Which systems stand together where a page shows only some of them."""

from __future__ import annotations

import numpy as np


def balanced_blocks(
    n_systems: int, size: int, n_blocks: int, *, seed: int
) -> list[list[int]]:
    """Draw blocks in which all systems, and all pairs of them, occur about as often.

    Parameters
    ----------
    n_systems, size, n_blocks : int
        Systems in all, systems of a block (at least 2, at most all), and blocks.
    seed : int
        Decides between systems that are equally due.

    Returns
    -------
    list of list of int
        Systems of each block, ascending. Their frequencies differ by one at most; pairs
        meet as equally often as one choice after the other reaches.

    Raises
    ------
    ValueError
        When the size does not fit.

    References
    ----------
    Cochran and Cox (1957), Experimental Designs, chapter 11 (balanced incomplete
    blocks, of which these are approximations for any number of blocks).

    Examples
    --------
    >>> blocks = balanced_blocks(7, 3, 7, seed=1)
    >>> np.bincount(np.concatenate(blocks)).tolist()
    [3, 3, 3, 3, 3, 3, 3]
    """
    if not 2 <= size <= n_systems:
        raise ValueError(
            f"A block holds 2 to {n_systems} of {n_systems} systems, not {size}."
        )
    rng = np.random.default_rng(seed)
    counts = np.zeros(n_systems, dtype=np.int64)
    met = np.zeros((n_systems, n_systems), dtype=np.int64)
    blocks = []
    for _ in range(n_blocks):
        chosen: list[int] = []
        for _ in range(size):
            order = np.lexsort((rng.random(n_systems), met[chosen].sum(axis=0), counts))
            due = next(int(i) for i in order if i not in chosen)
            met[due, chosen] += 1
            met[chosen, due] += 1
            chosen.append(due)
            counts[due] += 1
        blocks.append(sorted(chosen))
    return blocks
