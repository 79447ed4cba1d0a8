"""A recomputed table as a self-contained SVG picture.

Every cell with a printed number is a line; its position shows the difference of the
printed number from ours in units of the tolerance, which is the band in the middle.
"""

import math
from collections.abc import Sequence
from html import escape

from genie_research.papers.table import Table
from leaderboard.papers.figures import Cell, Verdict

_LEFT, _PLOT, _ROW, _TOP, _BOTTOM = 430, 420, 18, 62, 34
_REACH = 3.0  # beyond this a mark is shown at the edge, as an arrow
# also distinguished by shape, for people who do not distinguish red and green
_COLOURS = {
    Verdict.HOLDS: "#0072b2",
    Verdict.NOT_MET: "#d55e00",
    Verdict.FAILS: "#000000",
}


def table_plot(table: Table | type[Table], cells: Sequence[Cell]) -> str | None:
    """Draw one table; None if no cell has a printed number with a tolerance."""
    placed = [(cell, offset) for cell in cells if (offset := _offset(cell)) is not None]
    if not placed:
        return None
    height = _TOP + _ROW * len(placed) + _BOTTOM
    width = _LEFT + _PLOT + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(table.slug)}: printed numbers and ours</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="22" font-size="15">{escape(table.slug)}</text>',
        f'<text x="10" y="42">{escape(table.paper)}</text>',
        *_scale(height),
    ]
    for index, (cell, offset) in enumerate(placed):
        parts += _line(cell, offset, _TOP + _ROW * index + _ROW / 2)
    return "\n".join([*parts, "</svg>", ""])


def _offset(cell: Cell) -> float | None:
    accepted = cell.accepted_range
    if accepted is None or not isinstance(cell.paper, float | int):
        return None
    low, high = accepted
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return None
    return (cell.paper - (low + high) / 2) / ((high - low) / 2)


def _x(offset: float) -> float:
    inside = max(-_REACH, min(_REACH, offset))
    return _LEFT + _PLOT / 2 * (1 + inside / _REACH)


def _scale(height: int) -> list[str]:
    low, high, middle = _x(-1), _x(1), _x(0)
    bottom = height - _BOTTOM
    return [
        f'<rect x="{low:g}" y="{_TOP}" width="{high - low:g}"'
        f' height="{bottom - _TOP}" fill="#e6eef5"/>',
        f'<line x1="{middle:g}" y1="{_TOP}" x2="{middle:g}" y2="{bottom}"'
        ' stroke="#888"/>',
        f'<text x="{middle:g}" y="{bottom + 16}" text-anchor="middle">'
        "printed minus ours; the band is the tolerance</text>",
    ]


def _line(cell: Cell, offset: float, y: float) -> list[str]:
    x = _x(offset)
    label = f"{cell.row}, {cell.column}"
    tooltip = f"{label}: printed {cell.paper:g}, ours {cell.ours:.6g}, {cell.verdict}"
    if abs(offset) > _REACH:
        tip = 6 if offset > 0 else -6
        shape, attributes = "path", f'd="M{x:g} {y - 5:g} l{tip} 5 l{-tip} 5 z"'
    elif cell.verdict is Verdict.HOLDS:
        shape, attributes = "circle", f'cx="{x:g}" cy="{y:g}" r="4"'
    else:
        shape, attributes = "path", f'd="M{x - 5:g} {y:g} l5 -5 l5 5 l-5 5 z"'
    return [
        f'<text x="{_LEFT - 10}" y="{y + 4:g}" text-anchor="end">{escape(label)}</text>',
        f'<{shape} {attributes} fill="{_COLOURS[cell.verdict]}">'
        f"<title>{escape(tooltip)}</title></{shape}>",
    ]
