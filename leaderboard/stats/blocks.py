"""Balanced designs of pages that show only some of the systems."""

from functools import cache

import numpy as np
import numpy.typing as npt

from leaderboard.stats.comparisons import Ints

# Limits: exchanges, consecutive exchanges without effect, and blocks searched for
# each. Beyond these, designs hardly improve.
_MOST_EXCHANGES, _MOST_IN_VAIN, _BLOCKS_AT_ONCE = 4_000, 400, 400
# larger than any change
_FORBIDDEN = 2**40


def balanced_blocks(
    n_systems: int, size: int, n_blocks: int, *, seed: int
) -> list[list[int]]:
    """Draw blocks in which all systems, and all pairs of them, occur about as often.

    Parameters
    ----------
    n_systems, size, n_blocks : int
        Systems in all, systems of a block (at least 2, at most all), and blocks.
    seed : int
        Breaks ties between systems.

    Returns
    -------
    list of list of int
        Systems of each block, ascending. Their frequencies differ by one at most; those
        of pairs by as little as possible, usually by one or two.

    Notes
    -----
    If size (size - 1) + 1 systems have a difference set, as 7 by threes, 13 by fours or
    21 by fives, whole rounds of as many blocks as systems let every pair meet once. The
    rest is drawn system by system, the rarest first; then systems of two blocks are
    exchanged as long as the pairs' frequencies become more equal.

    References
    ----------
    Bose (1939), On the construction of balanced incomplete block designs, Annals of
    Eugenics 9 (difference sets); Jones and Eccleston (1980), Exchange and interchange
    procedures to search for optimal designs, JRSS B 42(2).
    """
    if not 2 <= size <= n_systems:
        raise ValueError(
            f"A block holds 2 to {n_systems} of {n_systems} systems, not {size}."
        )
    rng = np.random.default_rng(seed)
    base = np.array(_difference_set(n_systems, size), dtype=np.int64)
    n_rounds = n_blocks // n_systems if base.size else 0
    turned = (base + np.arange(n_systems)[:, None]) % n_systems
    rounds = [rng.permutation(n_systems)[turned] for _ in range(n_rounds)]
    met = np.full((n_systems, n_systems), n_rounds, dtype=np.int64)
    np.fill_diagonal(met, 0)
    rest = _draw_blocks(met, size, n_blocks - n_rounds * n_systems, rng)
    blocks = np.concatenate([*rounds, rest])
    if len(blocks) > 1:
        _exchange(blocks, met, rng)
    found: list[list[int]] = np.sort(blocks, axis=1).tolist()
    return found


@cache
def _difference_set(n: int, size: int) -> tuple[int, ...]:
    def longer(chosen: tuple[int, ...], used: frozenset[int]) -> tuple[int, ...]:
        if len(chosen) == size:
            return chosen
        for one in range(chosen[-1] + 1, n):
            new = {(one - other) % n for other in chosen}
            new |= {(other - one) % n for other in chosen}
            if len(new) == 2 * len(chosen) and not new & used:
                found = longer((*chosen, one), used | new)
                if found:
                    return found
        return ()

    # sets of ten numbers, of 91 systems, take too long to find
    possible = n == size * (size - 1) + 1 and size <= 9
    return longer((0, 1), frozenset({1, n - 1})) if possible else ()


def _draw_blocks(met: Ints, size: int, n_blocks: int, rng: np.random.Generator) -> Ints:
    n_systems = len(met)
    counts = np.zeros(n_systems, dtype=np.int64)
    blocks = np.empty((n_blocks, size), dtype=np.int64)
    for block in blocks:
        chosen: list[int] = []
        for place in range(size):
            order = np.lexsort((rng.random(n_systems), met[chosen].sum(axis=0), counts))
            due = next(int(i) for i in order if i not in chosen)
            met[due, chosen] += 1
            met[chosen, due] += 1
            chosen.append(due)
            counts[due] += 1
            block[place] = due
    return blocks


def _exchange(blocks: Ints, met: Ints, rng: np.random.Generator) -> None:
    """Exchange systems of two blocks while squares of the pairs' frequencies fall."""
    upper = np.triu_indices(len(met), 1)
    in_vain = 0
    for _ in range(_MOST_EXCHANGES):
        times = met[upper]
        if times.max() - times.min() <= 1 or in_vain > _MOST_IN_VAIN:
            break
        # one of the most frequent pair leaves one of its blocks
        often = rng.choice(np.flatnonzero(times == times.max()))
        pair = rng.permutation([upper[0][often], upper[1][often]])
        together = (blocks == pair[0]).any(axis=1) & (blocks == pair[1]).any(axis=1)
        here = int(rng.choice(np.flatnonzero(together)))
        among = _some(len(blocks), rng)
        gain = _change(blocks[here], int(pair[0]), blocks[among], met)
        best = gain.min()
        in_vain = 0 if best < 0 else in_vain + 1
        if best <= 0:
            where = int(rng.choice(np.flatnonzero(gain == best)))
            there, place = divmod(where, blocks.shape[1])
            _swap(blocks, met, (here, int(pair[0])), (int(among[there]), place))


def _some(n_blocks: int, rng: np.random.Generator) -> Ints:
    if n_blocks <= _BLOCKS_AT_ONCE:
        return np.arange(n_blocks)
    return rng.choice(n_blocks, _BLOCKS_AT_ONCE, replace=False)


def _change(block: Ints, leaving: int, others: Ints, met: Ints) -> Ints:
    """Return half the change of the sum of squares for each place of the other blocks."""
    staying = block[block != leaving]
    inside = np.zeros(len(met), dtype=np.int64)
    inside[block] = 1
    shared = inside[others]
    common = shared.sum(axis=1)[:, None] - shared
    theirs = met[others[:, :, None], others[:, None, :]].sum(axis=2)
    of_leaving = met[leaving][others]
    here = met[:, staying].sum(axis=1) - met[leaving, staying].sum()
    there = of_leaving.sum(axis=1)[:, None] - of_leaving - theirs
    change = here[others] + there + 2 * len(staying) - 2 * common
    # a block contains a system only once
    twice = (shared == 1) | (others == leaving).any(axis=1)[:, None]
    return np.where(twice, _FORBIDDEN, change)


def _swap(
    blocks: Ints, met: Ints, one: tuple[int, int], other: tuple[int, int]
) -> None:
    (here, leaving), (there, place) = one, other
    staying = blocks[here][blocks[here] != leaving]
    rest = np.delete(blocks[there], place)
    coming = int(blocks[there, place])
    changes: list[tuple[int, npt.NDArray[np.int64], int]] = [
        (leaving, staying, -1),
        (coming, staying, 1),
        (leaving, rest, 1),
        (coming, rest, -1),
    ]
    for system, those, change in changes:
        met[system, those] += change
        met[those, system] += change
    blocks[here][blocks[here] == leaving] = coming
    blocks[there, place] = leaving
