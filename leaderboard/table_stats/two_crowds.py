"""Comparison of two tables of ratings as two crowds, and its text."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.crowds import CrowdComparison, compare_crowds
from leaderboard.stats.systems.table import Variances
from leaderboard.table_stats.analysis import logs
from leaderboard.table_stats.read import Ratings, read_tables


def compare_tables(
    first: Path,
    second: Path,
    choices: Mapping[str, Any],
    *,
    scale: str = "value",
    seed: int = 0,
) -> list[tuple[str, CrowdComparison]]:
    """Compare two files' crowds, criterion by criterion.

    Systems, instances and workers are matched by name.
    """
    tables = [_ratings(path, choices) for path in (first, second)]
    found = []
    for criterion in [name for name in tables[0] if name in tables[1]]:
        both = [table[criterion] for table in tables]
        systems, workers, instances = (
            np.concatenate([_column(t, name, place) for place, t in enumerate(both)])
            for name in ("system", "worker", "instance")
        )
        compared = compare_crowds(
            np.concatenate(
                [logs(one.values) if scale == "log" else one.values for one in both]
            ),
            systems,
            workers,
            instances,
            np.repeat([False, True], [len(one) for one in both]),
            seed=seed,
        )
        if compared is not None:
            found.append((criterion, compared))
    if not found:
        raise GenieError(
            f"{first} and {second} have no system in common on the same criterion.",
            code="nothing-to-compare",
        )
    return found


def _ratings(path: Path, choices: Mapping[str, Any]) -> dict[str, Ratings]:
    tables = read_tables([path], choices)
    ratings = {one.criterion: one for one in tables if isinstance(one, Ratings)}
    if not ratings:
        raise GenieError(
            f"{path} contains pairs, but crowds are compared by ratings.",
            code="unusable-table",
        )
    return ratings


def _column(table: Ratings, name: str, place: int) -> npt.NDArray[np.str_]:
    labels = table.labels.get(name)
    if labels is not None:
        return np.asarray(labels.words, dtype=str)
    # without instances every rating has a separate one
    return np.array([f"{place}:{number}" for number in range(len(table))])


def as_lines(
    names: tuple[str, str], criterion: str, found: CrowdComparison
) -> Iterator[str]:
    first, second = names
    yield f"{criterion or 'Ratings'}: {first} and {second}"
    for name, n, workers, parts in zip(
        names, found.n_ratings, found.n_workers, found.variances, strict=True
    ):
        yield (
            f"  {name}: {n:,} ratings by {workers:,} workers; standard deviations: "
            f"{_deviations(parts)}"
        )
    yield "  system: first, second, second - first [95%], ranks"
    for one in found.systems:
        gap, (own, other) = one.difference, one.ranks
        yield (
            f"  {one.system}: {one.means[0]:.3f}, {one.means[1]:.3f}, "
            f"{gap:+.3f}, {own[0]}-{own[1]}, {other[0]}-{other[1]}"
        )
    if found.correlation is not None:
        r = found.correlation
        yield f"  correlation of scores: {r.r:.3f} [{r.low:.3f}, {r.high:.3f}]"
    yield from _population(found)


def _deviations(parts: Variances) -> str:
    roots = (parts.worker, parts.instance, parts.residual)
    worker, instance, rest = (f"{max(part, 0.0) ** 0.5:.2f}" for part in roots)
    return f"workers {worker}, instances {instance}, rest {rest}"


def _population(found: CrowdComparison) -> Iterator[str]:
    test = found.population
    if test is None:
        yield "  same population: too few workers to tell"
        return
    yield (
        f"  same population: p = {test.p_value:.4f} (levels {test.p_means:.4f}, spread "
        f"{test.p_spread:.4f})"
    )
    if test.n_both:
        yield f"  {test.n_both:,} workers of both crowds are left out of this test"
    yield (
        "  no difference of levels can be detected, because the crowds share too few "
        "instances"
        if test.detectable is None
        else (
            "  smallest difference of levels detected with 80% power: "
            f"{test.detectable:.3f}"
        )
    )
