"""Adjust a release's preferences for what its texts look like, again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaderboard.evaluation.selectors.adjusted.strengths import (
    AdjustedStrengths,
    Judged,
    Shown,
    Styles,
    adjusted,
    judged,
    judged_on_pages,
)
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.published_numbers import Number
from leaderboard.releases.selectors.adjusted_rows import effects, strengths
from leaderboard.stats.preferences.style import STYLE

TABLE, EFFECTS = "adjusted_strengths", "adjusted_effects"
# The fit stops when it hardly moves any more, and sums are made in another order.
TOLERANCE = 1e-5
_ABOUT = ("comparison", "joint", "criterion")


def adjusted_numbers(folder: Path) -> Iterator[Number]:
    """Compare every adjusted number with what votes and counts of the texts give."""
    stated = {name: bundle.Groups(folder, name, _ABOUT) for name in (TABLE, EFFECTS)}
    # releases of before had none
    if not any(groups.keys() for groups in stated.values()):
        return
    styles: Styles = {
        (row["submission"], row["instance"]): None
        if row["length"] is None
        else {name: row[name] for name in STYLE}
        for row in bundle.iter_table(folder, "output_styles")
    }
    rows = [*_comparisons(folder, styles), *_joint(folder, styles)]
    for name, computed, key in (
        (TABLE, list(strengths(rows)), "submission"),
        (EFFECTS, list(effects(rows)), "covariate"),
    ):
        published = list(bundle.iter_table(folder, name))
        yield Number(f"{name}.jsonl", "rows", len(published), len(computed))
        by_key = {_key(row, key): row for row in computed}
        for row in published:
            yield from _row(name, row, by_key.get(_key(row, key), {}), key)


def _key(row: Record, key: str) -> tuple[Any, ...]:
    return (*(row[name] for name in _ABOUT), row[key])


def _row(name: str, row: Record, computed: Record, key: str) -> Iterator[Number]:
    about = ", ".join(str(part) for part in _key(row, key) if part is not None)
    for field in sorted({*row, *computed} - {*_ABOUT, key}):
        subject = f"{about}, {field}"
        values = row.get(field), computed.get(field)
        yield Number(f"{name}.jsonl", subject, *values, TOLERANCE)


def _comparisons(
    folder: Path, styles: Styles
) -> Iterator[tuple[Record, AdjustedStrengths]]:
    pairs, votes = (
        bundle.Groups(folder, name, ["comparison"])
        for name in ("comparison_pairs", "comparison_votes")
    )
    for row in bundle.iter_table(folder, "comparisons"):
        pk, both = row["comparison"], (row["a"], row["b"])
        shown = {pair["position"]: pair for pair in pairs.rows(pk)}
        rows = [
            judged(
                both,
                shown[vote["position"]]["slot_of_a"],
                vote["worker"],
                shown[vote["position"]]["instance"],
                vote["vote"],
            )
            for vote in votes.rows(pk)
            if vote["counted"]
        ]
        about = {"comparison": pk, "joint": None, "criterion": row["criterion"]}
        yield from _adjusted(about, rows, list(both), styles)


def _joint(folder: Path, styles: Styles) -> Iterator[tuple[Record, AdjustedStrengths]]:
    results, judgments = (
        bundle.Groups(folder, name, ("joint", "criterion"))
        for name in ("joint_results", "joint_judgments")
    )
    for row in bundle.iter_table(folder, "joint_evaluations"):
        key = row["joint"], row["criterion"]
        pages: dict[tuple[Any, ...], list[Shown]] = defaultdict(list)
        for one in judgments.rows(*key):
            if one["counts"]:
                page = one["instance"], one["page"], one["worker"]
                shown = one["slot"], one["instance"], one["submission"], one["value"]
                pages[page].append(Shown(*shown))
        rows = judged_on_pages((page[-1], shown) for page, shown in pages.items())
        placed = sorted(results.rows(*key), key=lambda one: int(one["place"]))
        systems = [one["submission"] for one in placed]
        about = {"comparison": None, "joint": key[0], "criterion": key[1]}
        yield from _adjusted(about, rows, systems, styles)


def _adjusted(
    about: Record, rows: list[Judged], systems: list[int], styles: Styles
) -> Iterator[tuple[Record, AdjustedStrengths]]:
    if (one := adjusted(rows, systems, styles)) is not None:
        yield about, one
