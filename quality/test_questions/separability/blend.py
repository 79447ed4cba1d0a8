"""Choose among possible tests those that together look like real items."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from genie.lib.seeds import generator, seed_from
from quality.test_questions.separability.features import Surface, surface_features

Floats = NDArray[np.float64]

FARTHEST = 4.0
# one of the best two is taken, so that another seed gives other tests
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

    Kernel herding: one after another, the candidate is taken with which the means and
    mean squares of all features come closest to those of the real items. So texts that
    an edit has moved away from public ones are chosen where they were closer before.

    Parameters
    ----------
    candidates : sequence of Surface
        Possible tests, as many as can be had; of one input at most one is taken.
    items : sequence of Surface
        Real items of the campaign.
    n : int
        How many are wanted; fewer come back where there are too few inputs.
    taken : collection of str, optional
        Inputs (`input_key`) that may not be used.
    chosen : sequence of Surface, optional
        Tests that are chosen already: with them the new ones look like real items.

    Returns
    -------
    list of int
        Places in `candidates`.

    References
    ----------
    Chen, Welling and Smola (2010), "Super-samples from kernel herding", UAI.

    Examples
    --------
    >>> texts = ["one", "one two", "one two three", "one two three four five six"]
    >>> items = [Surface(text) for text in texts[:3]]
    >>> possible = [Surface(text, input_key=text) for text in texts]
    >>> sorted(blend_in(possible, items, 1, seed=1))[0] < 3
    True
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
    """Standardise by the real items, add squares; give the tests' rows and the target."""
    spread = items.std(axis=0)
    # what no real item has is measured by what candidates have of it
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
