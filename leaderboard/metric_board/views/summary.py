"""Top of a metric board's page: a sentence, a chart and a short table."""

from collections.abc import Callable
from typing import Any

from leaderboard.metric_board.charts.overview import Bar, overview
from leaderboard.metric_board.selectors.headline import (
    headline,
    judges,
    person_sentence,
    williams_sentence,
)
from leaderboard.metric_board.selectors.snapshot import STATISTICS, Cell, Shown
from leaderboard.metric_board.views.board_parts import number

# Two statistics of systems, a well-known one, and one of outputs.
_COLUMNS = ("soft-accuracy", "pairwise-accuracy", "pearson", "calibrated")
# More intervals would be hard to read; the table has them all.
_MOST_DRAWN = 7
_SHORT = {"calibrated": "Segment accuracy", "soft-accuracy": "Soft pairwise acc."}


def summary(shown: Shown, address: Callable[..., str]) -> dict[str, Any]:
    columns = [*_COLUMNS]
    if shown.by not in columns:
        columns.insert(0, shown.by)
    person = shown.person
    return {
        "sentence": headline(shown),
        "person": person_sentence(shown),
        "williams": williams_sentence(shown),
        "chart": _chart(shown),
        "not_drawn": max(0, len(shown.lines) - _MOST_DRAWN),
        "columns": [
            (
                STATISTICS[slug],
                _SHORT.get(slug, STATISTICS[slug].label),
                address(by=slug),
                slug == shown.by and not shown.too_few_to_rank,
            )
            for slug in columns
        ],
        "rows": [
            (line, [_cell(shown, line.cells.get(slug), slug) for slug in columns])
            for line in shown.lines
        ],
        "one_person": person
        and [_cell(shown, person.cells.get(slug), slug) for slug in columns],
        "about_person": person,
        "whom": "worker" if judges(shown) == "people" else "simulated annotator",
    }


def _cell(shown: Shown, cell: Cell | None, slug: str) -> tuple[str, str]:
    if cell is None or cell.value is None:
        return "–", ""
    # at most two, as this table is a summary
    decimals = min(2, shown.decimals(STATISTICS[slug].level))
    if cell.low is None or cell.high is None:
        return number(cell.value, decimals), ""
    low, high = (number(end, decimals) for end in (cell.low, cell.high))
    return number(cell.value, decimals), f"{low} to {high}"


def _chart(shown: Shown) -> Any:
    by = STATISTICS[shown.by]
    lines = [line for line in shown.lines if _value(line.cells, by.slug) is not None]
    bars = [
        Bar(line.label, cell.value or 0.0, cell.low, cell.high)
        for line in lines[:_MOST_DRAWN]
        for cell in [line.cells[by.slug]]
    ]
    person = shown.person
    if person is not None and _value(person.cells, by.slug) is not None:
        cell = person.cells[by.slug]
        one = "one worker" if judges(shown) == "people" else "one annotator"
        bars.append(Bar(one, cell.value or 0.0, cell.low, cell.high, True))
    described = ", ".join(f"{bar.label} {bar.value:.2f}" for bar in bars)
    return overview(
        bars,
        lowest=by.lowest,
        chance=by.chance,
        description=f"{by.label} with 95 % intervals: {described}",
    )


def _value(cells: dict[str, Cell], slug: str) -> float | None:
    return cells.get(slug, Cell()).value
