"""Parts of a metric board's page, from its stored snapshot."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from genie.lib.interval import Interval
from leaderboard.metric_board.charts import Point, scatter, statistic_bar
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Line,
    Shown,
    Statistic,
)

# Downloadable files, with descriptions.
FILES = (
    (
        "agreement.csv",
        "the contents of this page: each metric and one person, by statistic",
    ),
    ("agreement.json", "the same, as one JSON list"),
    ("judgments.csv", "system, instance, criterion, worker, value"),
    ("judgments.jsonl", "the same, one object per line"),
    (
        "battles.jsonl",
        "pairs rated in comparisons: model_a (shown first), model_b, winner, judge, and "
        "length and Markdown of both",
    ),
    ("metric-scores.csv", "system, instance, metric, value, including overall values"),
    ("metric-scores.jsonl", "the same, one object per line"),
    (
        "mtme.zip",
        "a test set of mt-metrics-eval: scores, documents, and texts if the license "
        "allows it",
    ),
)


@dataclass(frozen=True)
class Row:
    line: Line
    cells: list[tuple[str, str]]
    bar: SafeString


def table(shown: Shown, level: str, address: Callable[..., str]) -> dict[str, Any]:
    columns = [s for s in STATISTICS.values() if s.level == level]
    by = STATISTICS[shown.by]
    drawn = by if by.level == level else columns[0]
    ordered = not shown.too_few_to_rank
    return {
        "columns": [
            (
                statistic,
                address(by=statistic.slug),
                statistic.slug == shown.by and ordered,
            )
            for statistic in columns
        ],
        "drawn": drawn,
        "rows": [
            Row(
                line,
                [_cell(line, c, shown.decimals(level)) for c in columns],
                _bar(line, drawn),
            )
            for line in shown.lines
        ],
        "ranked": by.level == level and shown.ranking is not None,
    }


def _cell(line: Line, column: Statistic, decimals: int) -> tuple[str, str]:
    cell = line.cells.get(column.slug, Cell())
    if cell.value is None:
        return "–", ""
    if cell.low is None or cell.high is None:
        return number(cell.value, decimals), ""
    low, high = (number(end, decimals) for end in (cell.low, cell.high))
    return number(cell.value, decimals), f"[{low}, {high}]"


def number(value: float, decimals: int = 3) -> str:
    """Return a statistic with a true minus sign; never "-0"."""
    text = f"{value:.{decimals}f}"
    return (text.strip("-") if float(text) == 0 else text).replace("-", "−")


def _bar(line: Line, drawn: Statistic) -> SafeString:
    cell = line.cells.get(drawn.slug, Cell())
    return statistic_bar(cell.value, cell.low, cell.high, lowest=drawn.lowest)


def tests(shown: Shown) -> dict[str, Any] | None:
    ranking = shown.ranking
    if ranking is None or len(ranking["order"]) < 2:
        return None
    label = {line.slug: line.label for line in shown.lines}
    order, ranks = ranking["order"], ranking["ranks"]

    def rows(
        matrix: list[list[float | None]],
    ) -> list[tuple[str, int, list[tuple[str, bool]]]]:
        return [
            (label[slug], rank, [_p(value) for value in row])
            for slug, rank, row in zip(order, ranks, matrix, strict=True)
        ]

    return {
        "heads": [label[slug] for slug in order],
        "rows": rows(ranking["p"]),
        # only when ranked by Pearson
        "williams": rows(ranking["williams"]) if "williams" in ranking else [],
    }


def _p(value: float | None) -> tuple[str, bool]:
    if value is None:
        return "", False
    # without the leading zero, as papers in the field print p-values
    return ("< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")), value <= 0.05


def scatter_context(shown: Shown, line: Line) -> dict[str, Any]:
    computed = _computation(shown, line)
    rows, points = [], []
    for system, point in zip(shown.payload["systems"], computed["points"], strict=True):
        if point is None:
            continue
        # negated if lower is better, so that every scatter rises to the right
        value, half = point if line.arrow == "↑" else (-point[0], point[1])
        human = Interval(system["mean"], system["low"], system["high"])
        points.append(Point(system["name"], human, value, half))
        rows.append({"system": system, "value": f"{value:.4g}", "half": f"{half:.2g}"})
    pearson = line.cells.get("pearson", Cell()).value
    simulated = shown.board is not None and shown.board.simulated
    judges = "simulated annotators" if simulated else "people"
    description = f"{line.label} vs. scores by {judges} for {len(points)} systems"
    if pearson is not None:
        description += f"; Pearson correlation {pearson:.2f}"
    return {
        "chart": scatter(
            points, metric=line.label, judges=judges, description=description
        ),
        "rows": sorted(rows, key=lambda row: -row["system"]["mean"]),
    }


def _computation(shown: Shown, line: Line) -> dict[str, Any]:
    computed: dict[str, Any] = next(
        metric for metric in shown.payload["metrics"] if metric["slug"] == line.slug
    )
    return computed
