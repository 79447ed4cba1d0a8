"""The study of detectors as a self-contained SVG picture."""

import math
from html import escape

from genie_research.detection.detection_study import BUCKET_NAMES, Cell, DetectionStudy
from genie_research.detection.study_table import PUBLISHED
from quality.detection.stats.detectors import DETECTORS

_LEFT, _PANEL, _GAP, _TOP, _ROW = 150, 220, 44, 86, 30
# also distinguished by shape, for people who do not distinguish red and green
_RECALL, _PRECISION, _INK, _GRID = "#0072b2", "#d55e00", "#222222", "#d8d8d8"


def study_plot(study: DetectionStudy, name: str) -> str:
    """Draw precision and recall with 95% intervals, one panel per bucket.

    `name` is that of the question counts. The same study gives the same bytes.
    """
    width = _LEFT + 3 * _PANEL + 3 * _GAP
    height = _TOP + _ROW * len(study.detectors) + 40
    title = f"Detectors of noisy workers: {name}, {study.n_rounds} rounds"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" '
        f'font-size="12" fill="{_INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 24, title, size=15),
        *_legend(),
    ]
    for row, slug in enumerate(study.detectors):
        parts.append(_text(_LEFT - 10, _middle(row) + 4, DETECTORS[slug].title, "end"))
    for bucket in range(len(BUCKET_NAMES)):
        parts += _panel(study, bucket, _LEFT + bucket * (_PANEL + _GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _middle(row: int) -> float:
    return _TOP + _ROW * (row + 0.5)


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(words)}</text>"
    )


def _legend() -> list[str]:
    y = 44
    return [
        _square(_LEFT + 6, y, filled=True),
        _text(_LEFT + 16, y + 4, "precision"),
        _disc(_LEFT + 96, y, filled=True),
        _text(_LEFT + 106, y + 4, "recall"),
        _square(_LEFT + 170, y, filled=False),
        _disc(_LEFT + 186, y, filled=False),
        _text(
            _LEFT + 196, y + 4, "as printed in Genie's table 1; bars: 95 % intervals"
        ),
    ]


def _panel(study: DetectionStudy, bucket: int, left: float) -> list[str]:
    bottom = _TOP + _ROW * len(study.detectors)
    parts = [
        _text(
            left + _PANEL / 2, _TOP - 12, f"{BUCKET_NAMES[bucket]} questions", "middle"
        )
    ]
    for percent in (0, 25, 50, 75, 100):
        x = left + _PANEL * percent / 100
        parts.append(
            f'<line x1="{x:g}" x2="{x:g}" y1="{_TOP}" y2="{bottom}" stroke="{_GRID}"/>'
        )
        parts.append(_text(x, bottom + 18, f"{percent} %", "middle", 10))
    for row, slug in enumerate(study.detectors):
        parts += _marks(study.cell(slug, bucket), slug, bucket, left, _middle(row))
    return parts


def _marks(cell: Cell, slug: str, bucket: int, left: float, y: float) -> list[str]:
    def place(share: float) -> float:
        return left + _PANEL * share

    parts = []
    if slug in PUBLISHED:
        precision, recall = PUBLISHED[slug][bucket]
        parts.append(_square(place(precision / 100), y - 5, filled=False))
        parts.append(_disc(place(recall / 100), y + 5, filled=False))
    for share, interval, at, colour, mark in (
        (cell.precision, cell.precision_interval, y - 5, _PRECISION, _square),
        (cell.recall, cell.recall_interval, y + 5, _RECALL, _disc),
    ):
        if math.isnan(share):
            continue
        low, high = place(interval[0]), place(interval[1])
        parts.append(
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{at:g}" y2="{at:g}" '
            f'stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(mark(place(share), at, filled=True))
    return parts


def _square(x: float, y: float, *, filled: bool) -> str:
    fill = _PRECISION if filled else "none"
    return (
        f'<rect x="{x - 4:.1f}" y="{y - 4:g}" width="8" height="8" fill="{fill}" '
        f'stroke="{_PRECISION}"/>'
    )


def _disc(x: float, y: float, *, filled: bool) -> str:
    fill = _RECALL if filled else "none"
    return f'<circle cx="{x:.1f}" cy="{y:g}" r="4.5" fill="{fill}" stroke="{_RECALL}"/>'
