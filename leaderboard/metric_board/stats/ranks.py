"""Rankings of a board's metrics by several statistics."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leaderboard.metric_board.stats.lines import rated_means
from leaderboard.metric_board.stats.permutation import permutation_test
from leaderboard.metric_board.stats.soft_accuracy import (
    soft_accuracy_test,
    soft_pairwise_accuracy,
)
from leaderboard.metric_board.stats.system_level import SystemStatistic, system_rows
from leaderboard.metric_board.stats.verdicts import (
    MetricRanking,
    rank_metrics,
    verdicts,
    verdicts_test,
)
from leaderboard.metric_board.stats.williams import williams_test
from leaderboard.stats.intervals import Floats

#: Statistic of systems to the statistic of the permutation test.
_SWAPPED: dict[SystemStatistic, Any] = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall": "tau-b",
    "pairwise-accuracy": "acc-eq",
}
#: A test of soft accuracy multiplies tables for each swap: minutes beyond this.
MOST_SYSTEMS_SOFT = 40

Metric = tuple[str, Floats, Floats | None]


def rankings(
    human: Floats, metrics: Sequence[Metric], *, seed: int
) -> dict[str, dict[str, Any]]:
    """Rank metrics by several statistics, with tests of all pairs and clusters.

    Parameters
    ----------
    human : ndarray, shape (s, j)
        People's scores on the judged instances; NaN if none.
    metrics : sequence of (slug, overall, by_instance)
        Overall values of shape (s,), values of outputs of shape (s, j) or None, higher
        being better, all finite.

    Returns
    -------
    dict
        Statistic to ``order`` (slugs, best first), ``ranks`` (cluster of each in that
        order) and ``p`` (matrix in that order: p-value of "the row follows people
        better than the column", None elsewhere). Pearson's also has ``williams``, the
        same matrix by Williams' test, which treats systems as a sample, too. Soft
        accuracy is left out with more than `MOST_SYSTEMS_SOFT` systems, and with metrics
        of whole systems.
    """
    if not metrics:
        return {}
    means = rated_means(human)
    slugs = [slug for slug, _, _ in metrics]
    overall = [values for _, values, _ in metrics]
    by_statistic: dict[str, dict[str, Any]] = {
        name: _with_names(slugs, _by_system(means, overall, name, seed))
        for name in _SWAPPED
    }
    by_statistic["pearson"]["williams"] = _williams(
        means, dict(zip(slugs, overall, strict=True)), by_statistic["pearson"]["order"]
    )
    tables = [(slug, table) for slug, _, table in metrics if table is not None]
    if tables:
        names = [slug for slug, _ in tables]
        by_instance = [table for _, table in tables]
        by_statistic["calibrated"] = _with_names(
            names, _by_verdicts(human, by_instance, seed)
        )
        if len(human) <= MOST_SYSTEMS_SOFT and _has_complete(human):
            by_statistic["soft-accuracy"] = _with_names(
                names, _by_soft_accuracy(human, by_instance, seed)
            )
    return by_statistic


def _with_names(slugs: Sequence[str], ranking: MetricRanking) -> dict[str, Any]:
    order = ranking.order
    p = ranking.p_values[np.ix_(order, order)]
    return {
        "order": [slugs[i] for i in order],
        "ranks": [ranking.ranks[i] for i in order],
        "p": [[None if np.isnan(v) else round(v, 6) for v in row] for row in p],
    }


def _williams(
    means: Floats, overall: dict[str, Floats], order: Sequence[str]
) -> list[list[float | None]]:
    rows: list[list[float | None]] = [[None] * len(order) for _ in order]
    for i, one in enumerate(order):
        for j in range(i + 1, len(order)):
            p = williams_test(means, overall[one], overall[order[j]])
            rows[i][j] = None if np.isnan(p) else round(p, 6)
    return rows


def _by_system(
    means: Floats, overall: Sequence[Floats], name: SystemStatistic, seed: int
) -> MetricRanking:
    def p_better(i: int, j: int) -> float:
        return permutation_test(
            means, overall[i], overall[j], statistic=_SWAPPED[name], seed=seed
        ).p_value

    # the statistic itself decides the order; the tests only decide where clusters end
    values = [float(system_rows(means, metric, name)) for metric in overall]
    return rank_metrics(values, _only_defined(values, p_better))


def _by_verdicts(human: Floats, tables: Sequence[Floats], seed: int) -> MetricRanking:
    judged = [verdicts(human, table) for table in tables]

    def p_better(i: int, j: int) -> float:
        return verdicts_test(judged[i], judged[j], seed=seed).p_value

    values = [metric_verdicts.calibrated.accuracy for metric_verdicts in judged]
    return rank_metrics(values, _only_defined(values, p_better))


def _by_soft_accuracy(
    human: Floats, tables: Sequence[Floats], seed: int
) -> MetricRanking:
    def p_better(i: int, j: int) -> float:
        return soft_accuracy_test(human, tables[i], tables[j], seed=seed).p_value

    values = [soft_pairwise_accuracy(human, table) for table in tables]
    return rank_metrics(values, _only_defined(values, p_better))


def _only_defined(
    values: Sequence[float], p_better: Callable[[int, int], float]
) -> Callable[[int, int], float]:
    def p(i: int, j: int) -> float:
        defined = not (np.isnan(values[i]) or np.isnan(values[j]))
        return p_better(i, j) if defined else float("nan")

    return p


def _has_complete(human: Floats) -> bool:
    return bool((~np.isnan(human)).all(axis=0).any())
