"""Agreement of a single person with the others, as a benchmark for metrics."""

from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.calibration import calibrated_accuracy
from leaderboard.metric_board.stats.pairs import (
    VARIANTS,
    agreement,
    pair_counts,
)
from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS, system_rows
from leaderboard.stats.intervals import Floats

#: An average over fewer people would reveal something about each of them.
FEWEST_RATERS = 3
#: Two systems make one pair, which any two raters order alike half of the time.
FEWEST_SYSTEMS = 3
_LOWEST = {"pairwise-accuracy": 0.0, "acc-eq": 0.0, "calibrated": 0.0}

Ints = npt.NDArray[np.int64]


def one_person(
    values: Floats,
    workers: npt.NDArray[Any],
    systems: Ints,
    instances: Ints,
    *,
    n_systems: int,
    n_instances: int,
) -> dict[str, Any] | None:
    """Compare each person with all others, and average over people.

    Parameters
    ----------
    values, workers, systems, instances : ndarray, shape (n,)
        One entry per rating; higher values are better.

    Returns
    -------
    dict or None
        ``n_raters``, ``n_outputs`` (median per person), ``covers``, and ``system`` and
        ``instance``: statistic to value, low, high (95%, Student's t over people) and
        ``n``, the number of people in it; None if fewer than `FEWEST_RATERS` define it.
        None instead of the dict with fewer people.

    Notes
    -----
    For systems, a person's means are compared with the means of everyone else's ratings
    on any instances, over systems that both rated, at least `FEWEST_SYSTEMS`. For outputs,
    only those that both rated are compared. Soft pairwise accuracy is left out: p-values
    of a few ratings lie near one half, so that any two people would agree. A person has
    rated fewer outputs than a metric has scored.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel (2017), Can Machine Translation Systems Be
    Evaluated by the Crowd Alone, NLE 23, for people against people; Deutsch, Foster and
    Freitag (2023), Ties Matter, EMNLP, for the statistics.
    """
    people, who = np.unique(workers, return_inverse=True)
    if len(people) < FEWEST_RATERS:
        return None
    shape = (len(people), n_systems, n_instances)
    cells = np.unique(np.ravel_multi_index((who, systems, instances), shape))
    place = np.searchsorted(
        cells, np.ravel_multi_index((who, systems, instances), shape)
    )
    own_sum, own_n = np.bincount(place, weights=values), np.bincount(place)
    rater, system, instance = np.unravel_index(cells, shape)
    outputs = system * n_instances + instance
    size = n_systems * n_instances
    all_sum = np.bincount(outputs, weights=own_sum, minlength=size)
    all_n = np.bincount(outputs, weights=own_n, minlength=size)
    left_n = all_n[outputs] - own_n
    left = np.divide(
        all_sum[outputs] - own_sum,
        left_n,
        out=np.full(len(cells), np.nan),
        where=left_n > 0,
    )
    own, everybody = own_sum / own_n, _ratio(all_sum, all_n)
    ends = _others_by_system(rater, system, left, everybody, outputs, shape)
    mine = _means(rater * n_systems + system, own, shape[0] * n_systems)
    return {
        "n_raters": len(people),
        "n_outputs": float(np.median(np.bincount(rater))),
        "covers": "which people rated, for these systems and instances",
        "system": _of_systems(ends, mine.reshape(shape[:2])),
        "instance": _of_outputs(rater, instance, left, own, n_instances),
    }


def _ratio(sums: npt.NDArray[Any], n: npt.NDArray[Any]) -> Floats:
    return np.asarray(np.divide(sums, n, out=np.full(len(sums), np.nan), where=n > 0))


def _means(groups: Ints, values: Floats, n_groups: int) -> Floats:
    sums = np.bincount(groups, weights=values, minlength=n_groups)
    return _ratio(sums, np.bincount(groups, minlength=n_groups))


def _others_by_system(
    rater: Ints,
    system: Ints,
    left: Floats,
    everybody: Floats,
    outputs: Ints,
    shape: tuple[int, int, int],
) -> Floats:
    n_raters, n_systems, n_instances = shape
    rated = ~np.isnan(everybody)
    table = np.where(rated, everybody, 0.0).reshape(n_systems, n_instances)
    sums, n = table.sum(axis=1), rated.reshape(n_systems, n_instances).sum(axis=1)
    group, groups = rater * n_systems + system, n_raters * n_systems
    # only the outputs that this person rated change, so the rest is summed once
    gone = np.isnan(left)
    change = np.where(gone, 0.0, left) - everybody[outputs]
    without = np.bincount(group, weights=change, minlength=groups)
    fewer = np.bincount(group, weights=gone, minlength=groups)
    counts = (np.tile(n, n_raters) - fewer).round()
    means = _ratio(np.tile(sums, n_raters) + without, counts)
    return means.reshape(n_raters, n_systems)


def _of_systems(others: Floats, mine: Floats) -> dict[str, Any]:
    both = ~np.isnan(others) & ~np.isnan(mine)
    both &= (both.sum(axis=1) >= FEWEST_SYSTEMS)[:, None]
    some = both.any(axis=1)
    h = np.where(both, others, np.nan)[some]
    m = np.where(both, mine, np.nan)[some]
    return {
        statistic: _over_people(_rows(h, m, statistic), statistic)
        for statistic in SYSTEM_STATISTICS
    }


def _rows(h: Floats, m: Floats, statistic: Any) -> Floats:
    # one person at a time: people rated different systems
    known = ~np.isnan(h)
    return np.array(
        [
            float(system_rows(a[k], b[k], statistic))
            for a, b, k in zip(h, m, known, strict=True)
        ]
    )


def _of_outputs(
    rater: Ints, instance: Ints, left: Floats, own: Floats, n_instances: int
) -> dict[str, Any]:
    both = ~np.isnan(left)
    groups, row, n = np.unique(
        rater[both] * n_instances + instance[both],
        return_inverse=True,
        return_counts=True,
    )
    # packed: a person has rated few systems, and empty pairs would cost time
    first = np.cumsum(n) - n
    order = np.argsort(row, kind="stable")
    column = np.empty(len(row), dtype=np.int64)
    column[order] = np.arange(len(row)) - np.repeat(first, n)
    h = np.full((len(groups), n.max(initial=1)), np.nan)
    m = h.copy()
    h[row, column], m[row, column] = left[both], own[both]
    # an instance with a single output rated by the person has no pair
    h, m, whose = h[n >= 2], m[n >= 2], (groups // n_instances)[n >= 2]
    counts = pair_counts(h, m)
    found: dict[str, Any] = {
        variant: _over_people(_by_rater(agreement(counts, variant), whose), variant)
        for variant in VARIANTS
    }
    try:
        best = calibrated_accuracy(h.T, m.T)
    except ValueError:  # more pairs than fit into memory
        return found | {"calibrated": _over_people(np.array([]), "calibrated")}
    value = _over_people(_by_rater(best.per_group, whose), "calibrated")
    return found | {"calibrated": {**value, "epsilon": best.epsilon}}


def _by_rater(per_group: Floats, whose: Ints) -> Floats:
    defined = ~np.isnan(per_group)
    return _means(whose[defined], per_group[defined], int(whose.max(initial=-1)) + 1)


def _over_people(values: Floats, statistic: str) -> dict[str, Any]:
    from scipy import stats

    values = values[~np.isnan(values)]
    n = len(values)
    if n < FEWEST_RATERS:
        return {"value": None, "low": None, "high": None, "n": n}
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    reach = float(stats.t.ppf(0.975, n - 1)) * spread / float(np.sqrt(n))
    low = max(_LOWEST.get(statistic, -1.0), mean - reach)
    return {"value": mean, "low": low, "high": min(1.0, mean + reach), "n": n}
