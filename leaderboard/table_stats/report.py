"""An analysis as sheets of cells, the source of text, LaTeX and the page."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from genie.lib.interval import Interval, flat
from leaderboard.table_stats.analysis import Analysis, PairLine, SystemLine

# More pairs would be unreadable; the JSON has them all.
_PAIRS_SHOWN = 300
_PLAIN = ("plain", "low_crowd", "high_crowd")
_RULE = (
    "A system ranks below another only where their difference is significant after "
    "Holm's correction for all pairs (5 %); lines separate clusters."
)


@dataclass(frozen=True)
class Sheet:
    """A small table, with notes (sentences) below it and lines above the rows in `rules`."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    rules: frozenset[int] = frozenset()


def sheets(analysis: Analysis) -> list[Sheet]:
    found = [_systems(analysis), _pairs(analysis)]
    found += [_neighbours(analysis), _rank_sums(analysis)]
    found += [_components(analysis), _agreement(analysis), _plans(analysis)]
    return [sheet for sheet in found if sheet.rows]


def document(analyses: Sequence[Analysis], files: Sequence[str]) -> dict[str, Any]:
    return {
        "files": list(files),
        "confidence": 0.95,
        "criteria": [_about(analysis) for analysis in analyses],
        "systems": [
            flat(line, plain=_PLAIN) for one in analyses for line in one.systems
        ],
        "pairs": [flat(line) for one in analyses for line in one.pairs],
    }


def _about(analysis: Analysis) -> dict[str, Any]:
    fragile = analysis.fragility
    return {
        "criterion": analysis.criterion,
        "scale": analysis.scale,
        "n": analysis.n,
        "n_systems": len(analysis.systems),
        "n_workers": analysis.n_workers,
        "n_instances": analysis.n_instances,
        "covers": analysis.covers,
        "covers_crowd": analysis.covers_crowd,
        "method": analysis.method,
        "variances": dict(analysis.components),
        "agreement": [
            {"name": name, **one.flat("value"), "n_items": one.n_items}
            for name, one in analysis.agreement
        ],
        "plans": [asdict(one) for one in analysis.plans],
        "rank_sums": [asdict(one) for one in analysis.rank_sums],
        "first_place": None
        if fragile is None
        else {
            "leader": fragile.leader,
            "rival": fragile.rival,
            "ratings_to_drop": fragile.n_ratings,
            "share": fragile.share,
        },
        "neighbours": [asdict(one) for one in analysis.neighbours],
        "raters": analysis.raters,
        "notes": list(analysis.notes),
    }


def _systems(analysis: Analysis) -> Sheet:
    with_z = any(line.z is not None for line in analysis.systems)
    header = ["rank", "system", "estimate", "95 % interval"]
    # preferences have no plain mean on the scale of strengths
    strengths = analysis.scale == "log-odds"
    header += ["won", "independent"] if strengths else ["plain", "this crowd"]
    header += ["z"] if with_z else []
    known = analysis.n_workers > 0
    header += ["n", *([f"{analysis.raters}s", "effective", "largest"] if known else [])]
    rows = []
    for line in analysis.systems:
        cells = [
            _rank(line),
            line.system,
            _number(line.estimate.estimate),
            _interval(line.estimate),
            _number(line.plain.estimate),
            _interval(line.plain),
            *(["--" if line.z is None else f"{line.z:.3f}"] if with_z else []),
            str(line.n),
        ]
        if known:
            effective = f"{line.effective_workers:.1f}"
            largest = f"{100 * line.largest_share:.0f} %"
            cells += [str(line.n_workers), effective, largest]
        rows.append(tuple(cells))
    clusters = [line.cluster for line in analysis.systems]
    rules = {i for i in range(1, len(clusters)) if clusters[i] != clusters[i - 1]}
    what = _some(analysis.n, "comparison" if strengths else "rating")
    title = f"{analysis.criterion or 'Systems'}: {what}"
    title += f" by {_some(analysis.n_workers, analysis.raters)}" if known else ""
    if analysis.n_instances:
        title += f" of {_some(analysis.n_instances, 'instance')}"
    notes = (
        f"The 95 % interval covers {analysis.covers}.",
        f"{'Independent' if strengths else 'This crowd'}: {analysis.covers_crowd}.",
        _RULE,
        *_first_place(analysis),
        *analysis.notes,
    )
    return Sheet(title, tuple(header), tuple(rows), notes, frozenset(rules))


def _first_place(analysis: Analysis) -> tuple[str, ...]:
    found = analysis.fragility
    if found is None:
        return ()
    return (
        f"First place hangs on {_some(found.n_ratings, 'rating')} "
        f"({100 * found.share:.2g} %): without, {found.rival} would lead instead of "
        f"{found.leader}.",
    )


def _pairs(analysis: Analysis) -> Sheet:
    header = ("system", "against", "difference", "95 % interval", "p", "p alone")
    shown = analysis.pairs[:_PAIRS_SHOWN]
    rows = tuple(_pair(line) for line in shown)
    notes = ["p is adjusted for all pairs (Holm); p alone is of this pair by itself."]
    if len(analysis.pairs) > len(shown):
        notes.append(f"{len(analysis.pairs) - len(shown)} more pairs are in the JSON.")
    return Sheet("Pairs", header, rows, tuple(notes))


def _pair(line: PairLine) -> tuple[str, ...]:
    return (
        line.a,
        line.b,
        _number(line.difference.estimate),
        _interval(line.difference),
        _p_value(line.p),
        _p_value(line.p_single),
    )


def _rank_sums(analysis: Analysis) -> Sheet:
    rows = tuple(
        (
            _ranks(one.first, one.last),
            one.system,
            f"{one.z:.3f}",
            str(one.wins),
        )
        for one in analysis.rank_sums
    )
    starts = [one.first for one in analysis.rank_sums]
    rules = {i for i in range(1, len(starts)) if starts[i] != starts[i - 1]}
    notes = (
        "Clusters of WMT's findings: one-sided rank-sum tests (5 %, each pair by "
        "itself) of instances' mean z. They cover which instances were drawn only.",
    )
    header = ("cluster", "system", "z", "wins")
    return Sheet("Rank-sum clusters", header, rows, notes, frozenset(rules))


def _components(analysis: Analysis) -> Sheet:
    total = sum(variance for _, variance in analysis.components)
    rows = tuple(
        (name, _number(variance), f"{100 * variance / total:.1f} %" if total else "--")
        for name, variance in analysis.components
    )
    notes = (f"Estimated by {analysis.method}; systems: variance of their estimates.",)
    return Sheet("Variance components", ("source", "variance", "share"), rows, notes)


def _agreement(analysis: Analysis) -> Sheet:
    rows = tuple(
        (
            name,
            f"{one.estimate:.3f}" if math.isfinite(one.estimate) else "--",
            _interval(one, digits=3),
            str(one.n_items),
        )
        for name, one in analysis.agreement
    )
    header = ("coefficient", "value", "95 % interval", "outputs")
    notes = ("Of outputs that two or more workers rated; intervals resample outputs.",)
    return Sheet("Agreement of workers", header, rows, notes)


def _plans(analysis: Analysis) -> Sheet:
    rows = tuple(
        (one.aim, _count(one.instances), _count(one.workers), _count(one.ratings))
        for one in analysis.plans
    )
    header = ("aim", "instances", "workers", "ratings per system")
    notes = (
        "From these variances. Out of reach: no number of ratings is enough."
        if any(one.ratings is None for one in analysis.plans)
        else "From these variances.",
    )
    return Sheet("A next study", header, rows, notes)


def _neighbours(analysis: Analysis) -> Sheet:
    header = (
        *("system", "against", "difference"),
        *("bootstrap", "randomisation", "Wilcoxon", "instances"),
    )
    rows = tuple(
        (
            one.a,
            one.b,
            _number(one.difference),
            _p_value(one.p_bootstrap),
            _p_value(one.p_randomisation),
            _p_value(one.p_wilcoxon),
            str(one.n),
        )
        for one in analysis.neighbours
    )
    notes = (
        "Two-sided p-values of instance means, each of one pair: they hold for this "
        "crowd of workers only.",
    )
    return Sheet("Neighbours, tested in pairs for this crowd", header, rows, notes)


def _some(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _rank(line: SystemLine) -> str:
    return _ranks(line.rank_low, line.rank_high)


def _ranks(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _number(value: float) -> str:
    # about four significant digits, never an exponent
    size = abs(value)
    digits = 2 if size >= 10 else 3 if size >= 0.1 else 4
    return f"{value:.{digits}f}"


def _interval(one: Interval, digits: int | None = None) -> str:
    if one.ends is None:
        return "--"
    low, high = (_number(x) if digits is None else f"{x:.{digits}f}" for x in one.ends)
    return f"[{low}, {high}]"


def _p_value(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}"[0 if p >= 0.9995 else 1 :]


def _count(value: int | None) -> str:
    return "--" if value is None else str(value)
