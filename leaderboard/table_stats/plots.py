"""Intervals as a self-contained SVG picture without scripts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

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


def interval_plot(
    title: str, marks: Sequence[Mark], legend: str, *, at: Sequence[float] = ()
) -> str:
    """Return an SVG element of marks below each other on one scale.

    Parameters
    ----------
    title, legend : str
        Above and below the marks.
    at : sequence of float
        Values with a dashed line.

    Examples
    --------
    >>> picture = interval_plot("Scores", [Mark("A", 3.0, outer=(2.0, 4.0))], "95 %")
    >>> picture.startswith("<svg") and picture.count("<circle") == 1
    True
    """
    ticks = _ticks(marks, at)
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
    ]
    for tick in ticks:
        parts.append(
            f'<line x1="{x(tick):g}" x2="{x(tick):g}" y1="{_TOP}" y2="{bottom}" '
            f'stroke="#ddd"/><text x="{x(tick):g}" y="{bottom + 16}" '
            f'text-anchor="middle">{tick:g}</text>'
        )
    parts += [
        f'<line x1="{x(value):g}" x2="{x(value):g}" y1="{_TOP}" y2="{bottom}" '
        'stroke="#555" stroke-dasharray="4 3"/>'
        for value in at
    ]
    for row, mark in enumerate(marks):
        parts += _line(mark, _TOP + _ROW * row, x)
    parts.append(f'<text x="10" y="{height - 10}">{escape(legend)}</text></svg>')
    return "\n".join(parts) + "\n"


def _line(mark: Mark, top: float, x: Callable[[float], float]) -> list[str]:
    y = top + _ROW / 2
    parts = []
    if mark.rule:
        parts.append(
            f'<line x1="10" x2="{_LEFT + _PLOT}" y1="{top:g}" y2="{top:g}" stroke="#888"/>'
        )
    label = mark.label if len(mark.label) <= 28 else f"{mark.label[:27]}…"
    parts.append(
        f'<text x="{_LEFT - 10}" y="{y + 4:g}" text-anchor="end">{escape(label)}</text>'
    )
    for ends, stroke in ((mark.outer, 2), (mark.inner, 6)):
        if ends is not None:
            parts.append(
                f'<line x1="{x(ends[0]):g}" x2="{x(ends[1]):g}" y1="{y:g}" y2="{y:g}" '
                f'stroke="#0b5a60" stroke-width="{stroke}" '
                f'stroke-opacity="{1 if stroke == 2 else 0.45}"/>'
            )
    parts.append(
        f'<circle cx="{x(mark.value):g}" cy="{y:g}" r="4" fill="#0b5a60">'
        f"<title>{escape(mark.label)}: {mark.value:.4g}</title></circle>"
    )
    return parts


def _ticks(marks: Sequence[Mark], at: Sequence[float]) -> list[float]:
    values = [mark.value for mark in marks] + list(at)
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
