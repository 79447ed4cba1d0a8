"""Charts shared by several pages, as SVG made on the server, without scripts."""

import math
import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import count
from typing import Protocol

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from genie.lib.interval import Interval

# A shared scale: values to places along a column of charts.
_STEPS = (1.0, 2.0, 5.0)
_MOST_GAPS = 5


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high` with round ticks; places are percentages of the width."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Return the position of a value; values outside the axis are at its nearer end."""
        inside = min(max(value, self.low), self.high)
        percent = 100 * (inside - self.low) / (self.high - self.low)
        # a tenth of a percent is less than a pixel
        return f"{round(percent, 1):g}%"


def axis_over(
    low: float, high: float, *, floor: float = 0.0, ceiling: float = 100.0
) -> Axis:
    """Return the smallest axis with a few round gaps that includes low and high."""
    if high - low < 1:
        # space around a single value, within the range of scores
        low, high = max(low - 0.5, min(low, floor)), min(high + 0.5, max(high, ceiling))
    step = _step(low, high)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(step * k for k in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def _step(low: float, high: float) -> float:
    return next(
        step
        for step in (part * 10.0**power for power in count() for part in _STEPS)
        if math.ceil(high / step) - math.floor(low / step) <= _MOST_GAPS
    )


def label(tick: float) -> str:
    return f"{tick:g}"


# Badges for embedding in other sites, with built-in colors and without links.
HEIGHT = 22
_LEFT, _RIGHT, _SIMULATED = "#26323c", "#0b5a60", "#68448f"
_LONGEST = 44


def badge(subject: str, text: str, *, simulated: bool = False) -> SafeString:
    left = _short(f"Genie · {subject}")
    right = _short(f"{text} (simulated)" if simulated else text)
    a, b = _width(left), _width(right)
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" '
        'viewBox="0 0 {w} {h}" role="img" aria-label="{left}: {right}">'
        "<title>{left}: {right}</title>"
        '<rect width="{w}" height="{h}" rx="4" fill="{dark}"/>'
        '<path d="M{a} 0h{inner}a4 4 0 0 1 4 4v{tall}a4 4 0 0 1-4 4H{a}z" fill="{hue}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        'text-anchor="middle"><text x="{ma}" y="15" textLength="{la}">{left}</text>'
        '<text x="{mb}" y="15" textLength="{lb}">{right}</text></g></svg>',
        w=a + b,
        h=HEIGHT,
        tall=HEIGHT - 8,
        a=a,
        inner=b - 4,
        ma=f"{a / 2:g}",
        mb=f"{a + b / 2:g}",
        la=a - 14,
        lb=b - 14,
        left=left,
        right=right,
        dark=_LEFT,
        hue=_SIMULATED if simulated else _RIGHT,
    )


def _short(text: str) -> str:
    # control and direction characters in a name could reverse the text
    text = "".join(sign for sign in text if sign.isprintable())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _width(text: str) -> int:
    """Estimate the width of a text in pixels: wide characters count double."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    # fonts cannot be measured here: textLength stretches the text to this estimate
    return 14 + round(6.4 * (len(text) + wide))


# Plain bars: a share of a whole.
@dataclass(frozen=True)
class HistogramLine:
    label: str
    n: int
    share: float
    bar: SafeString


def progress(n: int, of: int) -> SafeString:
    share = 0.0 if of <= 0 else 100 * min(max(n / of, 0.0), 1.0)
    return format_html(
        '<svg class="progress" aria-hidden="true" focusable="false">'
        '<rect class="rest" width="100%" height="100%" rx="2"/>'
        '<rect class="fill" width="{}%" height="100%" rx="2"/></svg>',
        f"{share:.4g}",
    )


def histogram(counts: list[tuple[str, int]]) -> list[HistogramLine]:
    """Return counts as bars; the full width is 100% of all ratings."""
    total = sum(n for _, n in counts)
    shares = [100 * n / total if total else 0.0 for _, n in counts]
    return [
        HistogramLine(label=label, n=n, share=share, bar=_bar(share))
        for (label, n), share in zip(counts, shares, strict=True)
    ]


def _bar(width: float) -> SafeString:
    return format_html(
        '<svg class="bar" aria-hidden="true" focusable="false">'
        '<rect class="fill" width="{}%" height="100%" rx="2"/></svg>',
        f"{width:.4g}",
    )


# The protocol of scores in charts: an estimate with its 95% interval.
class Estimate(Protocol):
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def format_score(score: Estimate) -> str:
    return f"{Interval(score.mean, score.low, score.high):.1f}"


# The interval bar: 95% thin, 50% thick, the estimate a dot; and its column's scale.
#
# Places are percentages, so that a bar fills its cell at any size. Simulated bars look
# different (class `sim`: hollow, in a different color) and are labeled as simulated.
GRID_ID = "iv"
_ON_GRID = SafeString(f'<use href="#{GRID_ID}"/>')
_RULE = SafeString('<line class="grid-line" x2="100%" y1="50%" y2="50%"/>')
_SIMULATED_MARK = SafeString(' class="sim"')


class Spread(Estimate, Protocol):
    """An estimate with its 95% and 50% intervals."""

    @property
    def low_50(self) -> float: ...
    @property
    def high_50(self) -> float: ...


def sentence(score: Spread, *, simulated: bool = False) -> str:
    interval = f"{score.mean:.1f}, 95% interval {score.low:.1f} to {score.high:.1f}"
    return f"{interval}; simulated, not rated by people" if simulated else interval


def bar(
    axis: Axis,
    score: Spread,
    *,
    inner: tuple[float, float] | None = None,
    simulated: bool = False,
    hollow: bool = False,
    on_grid: bool = True,
) -> SafeString:
    """Draw an interval; `inner` are the ends of the thick line, else the 50% interval."""
    low, high = inner or (score.low_50, score.high_50)
    return format_html(
        '<svg role="img" aria-label="{}"{}>{}'
        '<line class="ci" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<line class="ci-50" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<circle class="dot" cx="{}" cy="50%" r="4"/></svg>',
        sentence(score, simulated=simulated),
        _SIMULATED_MARK if simulated or hollow else "",
        _ON_GRID if on_grid else _RULE,
        axis.at(score.low),
        axis.at(score.high),
        axis.at(low),
        axis.at(high),
        axis.at(score.mean),
    )


def grid(axis: Axis, leader_low: float | None = None) -> SafeString:
    lines = format_html_join(
        "",
        '<line class="grid-line" x1="{0}" x2="{0}" y1="0" y2="100%"/>',
        ((axis.at(tick),) for tick in axis.ticks),
    )
    leader = (
        SafeString("")
        if leader_low is None
        else format_html(
            '<line class="leader-line" x1="{0}" x2="{0}" y1="0" y2="100%"/>',
            axis.at(leader_low),
        )
    )
    return format_html(
        '<svg class="defs" aria-hidden="true" focusable="false"><defs><g id="{}">{}{}'
        "</g></defs></svg>",
        GRID_ID,
        lines,
        leader,
    )


def scale(axis: Axis) -> SafeString:
    texts = format_html_join(
        "",
        '<text x="{}" y="100%" dy="-4" text-anchor="middle">{}</text>',
        ((axis.at(tick), label(tick)) for tick in axis.ticks),
    )
    return format_html('<svg aria-hidden="true" focusable="false">{}</svg>', texts)


# Longer texts are shown without differences: comparing takes quadratic time.
MOST_WORDS = 1_200
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def difference(text: str, other: str) -> SafeString | None:
    """Mark words of `text` that `other` lacks; None if that would take too long."""
    own_words, other_words = _WORDS.findall(text), _WORDS.findall(other)
    if max(len(own_words), len(other_words)) > MOST_WORDS:
        return None
    # autojunk would leave out words that are frequent in long texts, such as "the"
    matcher = SequenceMatcher(None, own_words, other_words, autojunk=False)
    parts = []
    for kind, start, end, _, _ in matcher.get_opcodes():
        run = "".join(own_words[start:end])
        if run:
            same = kind == "equal" or not run.strip()
            parts.append(
                format_html("{}", run) if same else format_html("<ins>{}</ins>", run)
            )
    return format_html_join("", "{}", ((part,) for part in parts))
