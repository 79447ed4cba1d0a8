"""An analysis as sheets of cells, the source of text, LaTeX and the page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import chain
from typing import Any

from genie.lib.formats import tabular, tex
from genie.lib.interval import Interval, flat
from leaderboard.table_stats.analysis import Analysis

# More pairs would be unreadable; the JSON has them all.
_PAIRS_SHOWN = 300
_PLAIN = ("plain", "low_crowd", "high_crowd")
_RULE = (
    "A system ranks below another only if their difference is significant after "
    "Holm's correction for all pairs (5%); lines separate clusters."
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
        "population": analysis.population,
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
    header = ["rank", "system", "estimate", "95% interval"]
    # preferences have no plain mean on the scale of strengths
    strengths = analysis.scale == "log-odds"
    header += ["won", "independent"] if strengths else ["plain", "this crowd"]
    header += ["z"] if with_z else []
    known = analysis.n_workers > 0
    header += ["n", *([f"{analysis.raters}s", "effective", "largest"] if known else [])]
    rows = [
        (
            ranks_in_words(line.rank_low, line.rank_high),
            line.system,
            _number(line.estimate.estimate),
            _interval(line.estimate),
            _number(line.plain.estimate),
            _interval(line.plain),
            *["--" if line.z is None else f"{line.z:.3f}"] * with_z,
            str(line.n),
            *[
                str(line.n_workers),
                f"{line.effective_workers:.1f}",
                f"{100 * line.largest_share:.0f}%",
            ]
            * known,
        )
        for line in analysis.systems
    ]
    clusters = [line.cluster for line in analysis.systems]
    rules = {i for i in range(1, len(clusters)) if clusters[i] != clusters[i - 1]}
    what = some(analysis.n, "comparison" if strengths else "rating")
    title = f"{analysis.criterion or 'Systems'}: {what}"
    title += f" by {some(analysis.n_workers, analysis.raters)}" if known else ""
    if analysis.n_instances:
        title += f" of {some(analysis.n_instances, 'instance')}"
    notes = (
        f"Results are about {analysis.population.label}.",
        f"The 95% interval covers {analysis.covers}.",
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
        f"First place hangs on {some(found.n_ratings, 'rating')} "
        f"({100 * found.share:.2g}%): without, {found.rival} would lead instead of "
        f"{found.leader}.",
    )


def _pairs(analysis: Analysis) -> Sheet:
    header = ("system", "against", "difference", "95% interval", "p", "p alone")
    shown = analysis.pairs[:_PAIRS_SHOWN]
    rows = tuple(
        (
            line.a,
            line.b,
            _number(line.difference.estimate),
            _interval(line.difference),
            _p_value(line.p),
            _p_value(line.p_single),
        )
        for line in shown
    )
    notes = ["p is adjusted for all pairs (Holm), p alone is not."]
    if len(analysis.pairs) > len(shown):
        notes.append(f"{len(analysis.pairs) - len(shown)} more pairs are in the JSON.")
    return Sheet("Pairs", header, rows, tuple(notes))


def _rank_sums(analysis: Analysis) -> Sheet:
    rows = tuple(
        (ranks_in_words(one.first, one.last), one.system, f"{one.z:.3f}", str(one.wins))
        for one in analysis.rank_sums
    )
    starts = [one.first for one in analysis.rank_sums]
    rules = {i for i in range(1, len(starts)) if starts[i] != starts[i - 1]}
    notes = (
        "Clusters of WMT's findings: one-sided rank-sum tests (5%, each pair by "
        "itself) of instances' mean z. They cover only the choice of instances.",
    )
    header = ("cluster", "system", "z", "wins")
    return Sheet("Rank-sum clusters", header, rows, notes, frozenset(rules))


def _components(analysis: Analysis) -> Sheet:
    total = sum(variance for _, variance in analysis.components)
    rows = tuple(
        (name, _number(variance), f"{100 * variance / total:.1f}%" if total else "--")
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
    header = ("coefficient", "value", "95% interval", "outputs")
    notes = (
        "Agreement on outputs that two or more workers rated. Intervals resample "
        "outputs.",
    )
    return Sheet("Agreement of workers", header, rows, notes)


def _plans(analysis: Analysis) -> Sheet:
    rows = tuple(
        (one.aim, _count(one.instances), _count(one.workers), _count(one.ratings))
        for one in analysis.plans
    )
    header = ("aim", "instances", "workers", "ratings per system")
    notes = (
        'Computed from these variances. "Out of reach" means that no number of '
        "ratings is enough."
        if any(one.ratings is None for one in analysis.plans)
        else "Computed from these variances.",
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
        "Two-sided p-values of instance means, not adjusted. They apply only to this "
        "crowd of workers.",
    )
    return Sheet(
        "Neighboring systems, tested in pairs for this crowd", header, rows, notes
    )


def some(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def ranks_in_words(first: int, last: int) -> str:
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


# Intervals as a self-contained SVG picture without scripts.
_LEFT, _PLOT, _ROW, _TOP, _BOTTOM = 200, 460, 24, 44, 46
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Mark:
    """A line of the picture: a dot, an optional thick and an optional thin interval.

    With `rule`, a line is drawn above it.
    """

    label: str
    value: float
    inner: tuple[float, float] | None = None
    outer: tuple[float, float] | None = None
    rule: bool = False


def interval_plot(title: str, marks: Sequence[Mark], legend: str) -> str:
    """Return an SVG element of marks below each other on one scale.

    Parameters
    ----------
    title, legend : str
        Above and below the marks.

    Examples
    --------
    >>> picture = interval_plot("Scores", [Mark("A", 3.0, outer=(2.0, 4.0))], "95%")
    >>> picture.startswith("<svg") and picture.count("<circle") == 1
    True
    """
    ticks = _ticks(marks)
    low, high = ticks[0], ticks[-1]

    def x(value: float) -> float:
        inside = min(max(value, low), high)
        return round(_LEFT + _PLOT * (inside - low) / (high - low), 1)

    bottom = _TOP + _ROW * len(marks)
    width, height = _LEFT + _PLOT + 30, bottom + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12" '
        f'role="img"><title>{escape(title)}</title>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="22" font-size="14">{escape(title)}</text>',
        *(
            f'<line x1="{x(tick):g}" x2="{x(tick):g}" y1="{_TOP}" y2="{bottom}" '
            f'stroke="#ddd"/><text x="{x(tick):g}" y="{bottom + 16}" '
            f'text-anchor="middle">{tick:g}</text>'
            for tick in ticks
        ),
        *chain.from_iterable(
            _line(mark, _TOP + _ROW * row, x) for row, mark in enumerate(marks)
        ),
        f'<text x="10" y="{height - 10}">{escape(legend)}</text></svg>',
    ]
    return "\n".join(parts) + "\n"


def _line(mark: Mark, top: float, x: Callable[[float], float]) -> list[str]:
    y = top + _ROW / 2
    label = mark.label if len(mark.label) <= 28 else f"{mark.label[:27]}…"
    rule = (
        f'<line x1="10" x2="{_LEFT + _PLOT}" y1="{top:g}" y2="{top:g}" stroke="#888"/>'
    )
    return [
        *[rule] * mark.rule,
        f'<text x="{_LEFT - 10}" y="{y + 4:g}" text-anchor="end">{escape(label)}</text>',
        *(
            f'<line x1="{x(ends[0]):g}" x2="{x(ends[1]):g}" y1="{y:g}" y2="{y:g}" '
            f'stroke="#0b5a60" stroke-width="{width}" stroke-opacity="{opacity}"/>'
            for ends, width, opacity in ((mark.outer, 2, 1), (mark.inner, 6, 0.45))
            if ends is not None
        ),
        f'<circle cx="{x(mark.value):g}" cy="{y:g}" r="4" fill="#0b5a60">'
        f"<title>{escape(mark.label)}: {mark.value:.4g}</title></circle>",
    ]


def _ticks(marks: Sequence[Mark]) -> list[float]:
    values = [mark.value for mark in marks]
    values += [
        v for mark in marks for ends in (mark.inner, mark.outer) for v in ends or ()
    ]
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = (high - low) or max(abs(low), 1.0)
    power = 10.0 ** math.floor(math.log10(span / 5))
    step = next(part * power for part in _STEPS if part * power >= span / 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    # enough digits to round away float errors, even for a tiny step
    digits = max(12, 2 - math.floor(math.log10(step)))
    return [round(step * k, digits) for k in range(first, max(last, first + 1) + 1)]


# Sheets as LaTeX tables for a paper.
def as_latex(sheets: Sequence[Sheet]) -> str:
    r"""Return a floating table for each sheet; they need the package booktabs.

    Examples
    --------
    >>> r"\toprule" in as_latex([Sheet("Marks", ("who", "mark"), (("A", "3.5"),))])
    True
    """
    lines = [r"% \usepackage{booktabs}"]
    for sheet in sheets:
        header = [tex(cell) for cell in sheet.header]
        rows = [[tex(cell) for cell in row] for row in sheet.rows]
        for number in sheet.rules:
            rows[number][0] = rf"\midrule {rows[number][0]}"
        body = tabular(
            "l" * min(2, len(header)) + "r" * (len(header) - 2), header, rows
        )
        caption = tex(". ".join([sheet.title, *(n.rstrip(".") for n in sheet.notes)]))
        lines += [r"\begin{table}", r"\centering", *body]
        lines += [rf"\caption{{{caption}.}}", r"\end{table}", ""]
    return "\n".join(lines) + "\n"
