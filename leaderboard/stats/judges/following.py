"""Whether a judge follows people after removing systems and instances from both.

A judge that knows only how good a system is, how hard an instance is, or where the
center of the scale is has no association with people left.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from leaderboard.stats.clustered import Codes, clustered_mean
from leaderboard.stats.intervals import Interval
from leaderboard.stats.judges.alternative_annotator import Label
from leaderboard.stats.resampling import Floats

#: Between the parts of a name: `text__system__criterion`, `system/other/instance`.
SEPARATORS = ("__", "/")
_ROUNDS, _STILL = 2_000, 1e-9


def parts_of(names: Sequence[str]) -> list[Codes]:
    """Assign numbers to the parts of the items' names, such as system and instance.

    Parameters
    ----------
    names : sequence of str
        All have the same number of parts between the same separators; otherwise a name
        is one part.

    Returns
    -------
    list of ndarray of int, shape (n,)

    Examples
    --------
    >>> [part.tolist() for part in parts_of(["a__1", "a__2", "b__1"])]
    [[0, 0, 1], [0, 1, 0]]
    >>> len(parts_of(["a__1", "b"]))
    1
    """
    for separator in SEPARATORS:
        rows = [name.split(separator) for name in names]
        if {len(row) for row in rows} == {len(rows[0])} != {1}:
            return [_codes(part) for part in zip(*rows, strict=True)]
    return [_codes(names)]


def effects_of(parts: Sequence[Codes]) -> list[Codes]:
    """Return the groups whose means are removed.

    Each part of the names, and each combination of parts that has no more groups than
    the finest part, such as the systems of each criterion. Groups of one item are
    ignored.

    Parameters
    ----------
    parts : sequence of ndarray of int, shape (n,)

    Returns
    -------
    list of ndarray of int, shape (n,)

    Examples
    --------
    >>> system, instance = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> len(effects_of([system, instance]))
    2
    """
    items = int(_codes(zip(*parts, strict=True)).max()) + 1
    repeated = [part for part in parts if 1 < int(part.max()) + 1 < items]
    finest = max((int(part.max()) for part in repeated), default=0)
    crossed = [
        _codes(zip(*some, strict=True))
        for size in range(2, len(repeated) + 1)
        for some in combinations(repeated, size)
    ]
    return [*repeated, *(cells for cells in crossed if cells.max() <= finest)]


def without_effects(values: Floats, effects: Sequence[Codes]) -> Floats:
    """Subtract the means of crossed groups from each column.

    Parameters
    ----------
    values : ndarray, shape (n, n_columns)
    effects : sequence of ndarray of int, shape (n,)

    Returns
    -------
    ndarray, shape (n, n_columns)
        Residuals of least squares; exactly 0 if only rounding is left of a column.

    References
    ----------
    Gaure (2013), Computational Statistics and Data Analysis 66, 8-18 (alternating
    projections).

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [3.0], [5.0]])
    >>> groups = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> without_effects(values, groups).ravel().round(2).tolist()
    [0.25, -0.25, -0.25, 0.25]
    """
    left = values - values.mean(axis=0)
    size = np.abs(values).max(axis=0, initial=0)
    for _ in range(_ROUNDS):
        before = left
        for groups in effects:
            n = np.bincount(groups)
            sums = np.array([np.bincount(groups, column) for column in left.T])
            left = left - (sums / n).T[groups]
        if (np.abs(left - before).max(axis=0, initial=0) <= 1e-12 * size).all():
            break
    return np.where(np.abs(left).max(axis=0, initial=0) > _STILL * size, left, 0.0)


def partial_association(
    people: Mapping[str, Mapping[str, Label]],
    judge: Mapping[str, Label],
    *,
    numbers: bool,
    seed: int,
) -> Interval | None:
    """Compute a judge's association with people within systems and instances.

    Parameters
    ----------
    people : mapping of str to mapping of str to label
        Labels by person and item.
    numbers : bool
        Whether labels are numbers; otherwise each different label is a separate column.

    Returns
    -------
    Interval or None
        The partial correlation (for labels that are no numbers, of all columns
        together), with person, system and instance removed. It covers people and the
        finest part of the items' names. None if either side does not vary then.

    References
    ----------
    Frisch and Waugh (1933), Econometrica 1, 387-401 (partial regression); Efron and
    Tibshirani (1993), section 22.3 (influence of each row on a correlation).

    Examples
    --------
    >>> truth = {f"{i % 4}/{i // 4}": i * i % 7 for i in range(80)}
    >>> people = {who: truth for who in "abc"}
    >>> round(partial_association(people, truth, numbers=True, seed=1).estimate, 3)
    1.0
    >>> partial_association(people, dict.fromkeys(truth, 3), numbers=True, seed=1)
    """
    rows = [
        (person, item, label, judge[item])
        for person, labels in sorted(people.items())
        for item, label in sorted(labels.items())
        if item in judge and not _missing(label) and not _missing(judge[item])
    ]
    if not rows:
        return None
    persons, items, *sides = zip(*rows, strict=True)
    parts, person = parts_of(items), _codes(persons)
    table = np.array(sides, dtype=np.float64 if numbers else str)[:, :, None]
    if not numbers:
        table = (table == np.unique(table)).astype(np.float64)
    effects = [person, *effects_of(parts)]
    left = np.array([without_effects(side, effects) for side in table])
    power = (left**2).sum(axis=2)
    scale = power.mean(axis=1, keepdims=True)
    if not scale.all():
        return None
    fit = left.prod(axis=0).sum(axis=1) / scale.prod() ** 0.5
    influence = fit + fit.mean() * (1 - (power / scale).mean(axis=0))
    finest = max(parts, key=lambda part: int(part.max()))
    names = {"person": person, "instance": finest}
    return clustered_mean(influence, names, seed=seed)


def _missing(label: Label) -> bool:
    return isinstance(label, float) and not np.isfinite(label)


def _codes(labels: Iterable[object]) -> Codes:
    number: dict[object, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in labels])
