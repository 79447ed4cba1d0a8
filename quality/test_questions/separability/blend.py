"""Choose test questions that together resemble real items."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from genie.lib.seeds import generator, seed_from
from quality.test_questions.separability.features import Surface, surface_features

Floats = NDArray[np.float64]

FARTHEST = 4.0
# One of the best two is chosen, so that a different seed gives different tests.
N_BEST = 2


def blend_in(
    candidates: Sequence[Surface],
    items: Sequence[Surface],
    n: int,
    seed: int,
    *,
    taken: Collection[str] = (),
    chosen: Sequence[Surface] = (),
) -> list[int]:
    """Choose tests whose surface is distributed as that of real items.

    Kernel herding: one after another, choose the candidate with which the means and
    mean squares of all features are closest to those of the real items. So the choice
    favors edited texts that have moved away from public ones but were closer before.

    Parameters
    ----------
    candidates : sequence of Surface
        Possible tests, as many as possible; at most one of an input is chosen.
    n : int
        Number of tests; the result is shorter if there are too few inputs.
    taken : collection of str, optional
        Inputs (`input_key`) that may not be used.
    chosen : sequence of Surface, optional
        Tests that are already chosen: the new ones resemble real items with them.

    Returns
    -------
    list of int
        Places in `candidates`.

    References
    ----------
    Chen, Welling and Smola (2010), "Super-samples from kernel herding", UAI.
    """
    free = [k for k, c in enumerate(candidates) if c.input_key not in taken]
    if not free or not items:
        return []
    rows = surface_features([*(candidates[k] for k in free), *items, *chosen])
    first, last = len(free), len(free) + len(items)
    features, before, wanted = _moments(rows[:first], rows[last:], rows[first:last])
    keys = [candidates[k].input_key or f"#{k}" for k in free]
    return [free[k] for k in _herded(features, before, wanted, keys, n, seed)]


def _moments(
    candidates: Floats, chosen: Floats, items: Floats
) -> tuple[Floats, Floats, Floats]:
    """Standardize by the real items and add squares; also return the target."""
    spread = items.std(axis=0)
    # A feature that no real item has is scaled by the candidates.
    spread = np.where(spread > 0, spread, candidates.std(axis=0))
    kept = spread > 0
    scaled = [
        np.clip(
            (rows[:, kept] - items[:, kept].mean(axis=0)) / spread[kept],
            -FARTHEST,
            FARTHEST,
        )
        for rows in (candidates, chosen, items)
    ]
    of_tests, of_chosen, of_items = (np.hstack([rows, rows**2 / 2]) for rows in scaled)
    return of_tests, of_chosen, of_items.mean(axis=0)


def _herded(
    features: Floats,
    before: Floats,
    wanted: Floats,
    inputs: Sequence[str],
    n: int,
    seed: int,
) -> list[int]:
    rng = generator(seed_from("blend in", seed))
    keys = np.array(inputs)
    left = np.ones(len(inputs), dtype=bool)
    total = before.sum(axis=0)
    chosen = list[int]()
    while len(chosen) < n and left.any():
        where = np.flatnonzero(left)
        means = (total + features[where]) / (len(before) + len(chosen) + 1)
        away = ((means - wanted) ** 2).sum(axis=1)
        best = where[np.argsort(away, kind="stable")[:N_BEST]]
        one = int(best[rng.integers(len(best))])
        chosen.append(one)
        total += features[one]
        left &= keys != keys[one]
    return chosen
