"""WMT22's direct assessment into English: each pair of languages, and quality control."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from genie_research.papers.folder import Folder, file_like, judgments_in
from genie_research.papers.table import Table, Workbench
from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.papers.figure_sets.direct_assessment import (
    FILLER,
    DirectAssessment,
    counts,
)
from leaderboard.papers.figures import Cell, Computed, Printed, compare_figures, under

WMT22 = (
    "Kocmi et al. (2022), Findings of WMT22, tables of direct assessment into English"
)
_SCORES = ("raw", "z")
# Kinds of rows as WMT calls them.
_KINDS = {
    "judgment": "SYSTEM",
    "repeated": "REPEAT",
    "reference": "REF",
    "planted": "BAD_REF",
}


class Wmt22(Folder):
    slug = "wmt22-da"
    title = "Direct assessment into English: scores, tests, wins and clusters of every system"
    paper = WMT22
    folder = "wmt22-da"

    def figures(self, folder: Path, bench: Workbench) -> Computed:
        found = quality_control(folder)
        for pair in pairs_in(folder):
            bench.tell(f"{self.slug}: {pair}")
            found |= under(pair, of_pair(folder, pair).figures)
        return found

    def also(self, folder: Path) -> Mapping[str, Mapping[str, float]]:
        """Return the figures of the judgments alone, if different."""
        return {
            f"{pair}/{id}": {"judgments alone": value}
            for pair in pairs_in(folder)
            for id, value in of_pair(folder, pair).alone.items()
        }


class Wmt22Files(Table):
    slug = "wmt22-files"
    title = (
        "The same against the publishers' own files: scores, rounded rankings, all p values"
        " with their filler, and clusters"
    )
    paper = WMT22

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        folder = bench.data / Wmt22.folder
        pairs = pairs_in(folder)
        if not pairs:
            yield Cell(Wmt22.folder, "", None, None, why=f"There is no {folder.name}/.")
        for pair in pairs:
            ours = under(pair, of_pair(folder, pair).figures)
            yield from compare_figures(list(published_figures(folder, pair)), ours)


def pairs_in(folder: Path) -> list[str]:
    """Return the pairs of languages with raw judgments, by name."""
    names = (path.name.partition(".")[0] for path in folder.glob("ratings-*"))
    return sorted(name.removeprefix("ratings-") for name in names)


@dataclass(frozen=True)
class Pair:
    """Figures of a pair of languages, and different ones from the judgments alone."""

    figures: Computed
    alone: dict[str, float]


@cache
def of_pair(folder: Path, pair: str) -> Pair:
    """Compute the figures of one pair, those of raw scores and those of z-scores.

    A worker whose scores never vary has no z-scores, and the published judgments leave
    that worker out; the segment file has the segments that only such workers rated.
    """
    found: Computed = {}
    alone: Computed = {}
    added = 0
    for layout, start in (
        ("wmt-da", f"ratings-{pair}"),
        ("wmt-da-z", f"ad-{_join_pair(pair)}-good"),
    ):
        name = file_like(folder, start)
        if name is None:
            continue
        judgments = judgments_in(folder, [name], layout, {})
        whole, added = with_segments(judgments, folder, pair)
        found |= _figures_of(whole) | _by_kind(counts(judgments))
        if added:
            alone |= _figures_of(judgments)
    found["cells_without_judgments"] = float(added)
    found |= _as_published(folder, pair, found)
    return Pair(
        found,
        {
            id: value
            for id, value in alone.items()
            if isinstance(value, float) and value != found[id]
        },
    )


def _figures_of(judgments: Judgments) -> Computed:
    return _by_kind(DirectAssessment.compute(judgments, {}))


def _by_kind(figures: Computed) -> Computed:
    rows = {f"{role}/judgments": f"{kind}/judgments" for role, kind in _KINDS.items()}
    return {rows.get(id, id): value for id, value in figures.items()}


def _join_pair(pair: str) -> str:
    return pair.replace("-", "")


def rows_of(folder: Path, start: str) -> list[list[str]]:
    """Read a file of words separated by blanks; empty if it is missing."""
    import gzip

    name = file_like(folder, start)
    if name is None:
        return []
    data = (folder / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    return [line.split() for line in text.splitlines() if line.strip()]


def with_segments(
    judgments: Judgments, folder: Path, pair: str
) -> tuple[Judgments, int]:
    """Add the segments of systems that are only in the published segment scores."""
    import pandas as pd

    judged = judgments.judged
    known = set(zip(judged["system"], judged["instance"], strict=True))
    value = 3 if judgments.standardised else 2
    lacking = [
        row
        for row in rows_of(folder, f"ad-seg-scores-{pair}")[1:]
        if (row[0], row[1]) not in known
    ]
    if not lacking:
        return judgments, 0
    # as many rows as there were judgments, without a worker
    each = [row for row in lacking for _ in range(int(float(row[4])))]
    rows = frame(
        {
            "system": [row[0] for row in each],
            "instance": [row[1] for row in each],
            "value": [float(row[value]) for row in each],
        }
    )
    rows = pd.concat([judgments.rows, rows], ignore_index=True)
    return replace(judgments, rows=rows), len(lacking)


def _as_published(folder: Path, pair: str, found: Computed) -> Computed:
    clusters = {row[-1]: f"{row[4]}-{row[5]}" for row in _clusters(folder, pair)}
    if not clusters:
        return {}
    return {
        f"clusters_equal_{rule}_rule": float(
            sum(
                found.get(f"{name}/{figure}") == span for name, span in clusters.items()
            )
        )
        for rule, figure in (("count", "cluster"), ("strict", "cluster_strict"))
    }


def _clusters(folder: Path, pair: str) -> list[list[str]]:
    return [row for row in rows_of(folder, "clusters.csv") if "-".join(row[:2]) == pair]


def quality_control(folder: Path) -> Computed:
    """Count workers by the published class, and by the class of the test."""
    tests = {row[0]: float(row[1]) for row in rows_of(folder, "ad-trk-stats.csv")}
    classes = {row[0]: row[1] for row in rows_of(folder, "ad-trk-stats.class")}
    if not tests:
        return {}
    said = list(classes.values())
    same = sum(
        (tests[worker] < 0.05) == (word == "good")
        for worker, word in classes.items()
        if worker in tests
    )
    return {
        "qc/workers": float(len(tests)),
        "qc/good": float(said.count("good")),
        "qc/bad": float(said.count("bad")),
        "qc/class_is_p_below_05": float(same),
    }


def published_figures(folder: Path, pair: str) -> Iterator[Printed]:
    """Read the figures of one pair from the publishers' own files."""
    for row in rows_of(folder, f"ad-sys-scores-{pair}")[1:]:
        named = zip((*_SCORES, "segments"), row[:3], strict=True)
        for name, value in (*named, ("n_all", row[4])):
            exact = 1e-9 if name in _SCORES else 0.0
            yield Printed(f"{pair}/{row[3]}/{name}", float(value), exact)
    for by in ("z", "raw"):
        for place, row in enumerate(
            rows_of(folder, f"ad-sys-ranking-{pair}-{by}.csv"), 1
        ):
            yield Printed(f"{pair}/{row[4]}/rank_by_{by}", float(place), 0.0)
    yield from _published_tests(folder, pair)
    for row in _clusters(folder, pair):
        yield Printed(f"{pair}/{row[-1]}/wins", float(row[2]), 0.0)
        yield Printed(f"{pair}/{row[-1]}/cluster", f"{row[4]}-{row[5]}")


def _published_tests(folder: Path, pair: str) -> Iterator[Printed]:
    lines = rows_of(folder, f"adwilcox-{_join_pair(pair)}")
    for row in lines[1:]:
        for other, value in zip(lines[0], row[1:], strict=False):
            p = float(value)
            # p changes by this much if scores equal but for their last digit are ties
            slack = 0.0 if p == FILLER else 0.005 * p
            yield Printed(f"{pair}/{row[0]}>{other}/p_printed", p, slack)
