"""Ratings with several labels per instance, and draws from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.clustered import factor_codes
from leaderboard.stats.intervals import Floats, as_ratings

Aggregate = Callable[[Floats], Floats]
_CHUNK = 500_000


@dataclass(frozen=True)
class LabelTable:
    """Labels with a row per instance.

    Parameters
    ----------
    labels : ndarray, shape (i, k)
        Labels of each instance, ascending, padded with NaN.
    counts : ndarray of int, shape (i,)
        How many labels each instance has, at least 1.
    """

    labels: Floats
    counts: npt.NDArray[np.int64]

    def map(self, change: Callable[[Floats], Floats]) -> LabelTable:
        changed = np.where(np.isnan(self.labels), np.nan, change(self.labels))
        return LabelTable(np.asarray(changed, dtype=np.float64), self.counts)


def label_table(values: npt.ArrayLike, instances: npt.ArrayLike) -> LabelTable:
    """Sort labels (finite numbers, shape (n,)) by instance.

    The order of the rows depends on the labels only.
    """
    labels = as_ratings(values, what="labels")
    codes, n_instances = factor_codes({"instance": instances}, len(labels))["instance"]
    counts = np.bincount(codes, minlength=n_instances)
    order = np.lexsort((labels, codes))
    column = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((n_instances, int(counts.max())), np.nan)
    table[codes[order], column] = labels[order]
    rows = np.lexsort(np.column_stack([table, -counts]).T[::-1])
    return LabelTable(table[rows], counts[rows].astype(np.int64))


def average(drawn: Floats) -> Floats:
    return np.asarray(drawn.mean(axis=-1), dtype=np.float64)


def majority(drawn: Floats) -> Floats:
    """Take the most frequent label of each instance; ties give the mean of the tied."""
    votes = (drawn[..., :, None] == drawn[..., None, :]).sum(axis=-1)
    top = votes == votes.max(axis=-1, keepdims=True)
    # a label with v votes occurs v times, so each tied label has the same weight
    weight = top / votes
    return np.asarray((drawn * weight).sum(axis=-1) / weight.sum(axis=-1))


def draw_estimates(
    table: LabelTable,
    *,
    n_instances: int,
    labels_per_instance: int,
    n_sets: int,
    rng: np.random.Generator,
    aggregate: Aggregate = average,
) -> Floats:
    """Repeat a study: draw instances with replacement and labels without; average.

    Returns
    -------
    ndarray, shape (n_sets,)
        The estimate of each study.

    Raises
    ------
    ValueError
        If an instance has too few labels.
    """
    fewest = int(table.counts.min())
    if fewest < labels_per_instance:
        raise ValueError(
            f"An instance has {fewest} labels, but {labels_per_instance} are to "
            "be drawn."
        )
    estimates = np.empty(n_sets)
    for part in _chunks(n_sets, n_instances * table.labels.shape[1]):
        chosen = rng.integers(
            0, len(table.counts), (part.stop - part.start, n_instances)
        )
        drawn = _draw_labels(table, chosen, labels_per_instance, rng)
        estimates[part] = aggregate(drawn).mean(axis=1)
    return estimates


def _draw_labels(
    table: LabelTable,
    chosen: npt.NDArray[np.int64],
    labels_per_instance: int,
    rng: np.random.Generator,
) -> Floats:
    if labels_per_instance == 1:
        column = (rng.random(chosen.shape) * table.counts[chosen]).astype(np.intp)
        return np.asarray(table.labels[chosen, column][..., None])
    labels = table.labels[chosen]
    # the m smallest of k random keys are a sample without replacement
    keys = rng.random(labels.shape)
    keys[np.isnan(labels)] = 2.0  # after all labels of the instance
    order = np.argpartition(keys, labels_per_instance - 1, axis=-1)
    taken = order[..., :labels_per_instance]
    return np.asarray(np.take_along_axis(labels, taken, axis=-1))


def _chunks(n_sets: int, size: int) -> Iterator[slice]:
    rows = max(1, _CHUNK // size)
    for start in range(0, n_sets, rows):
        yield slice(start, min(start + rows, n_sets))


def exact_sd(table: LabelTable, *, n_instances: int, labels_per_instance: int) -> float:
    """Return the standard deviation that averaged studies of this size have.

    Returns
    -------
    float
        Root of (variance between instances + mean over instances of
        s^2 (1 - m / k) / m) / n_instances, s^2 being the variance of an instance's k
        labels with divisor k - 1.

    References
    ----------
    Cochran (1977), Sampling Techniques, equations 10.6 and 2.20 (two stages, the first
    with replacement).
    """
    k, m = table.counts, labels_per_instance
    means = np.nansum(table.labels, axis=1) / k
    squares = np.nansum((table.labels - means[:, None]) ** 2, axis=1)
    within = squares / np.maximum(k - 1, 1) * (1 - m / k) / m
    return float(np.sqrt((means.var() + within.mean()) / n_instances))
