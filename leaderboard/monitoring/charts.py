"""Lines of a running campaign: what was spent, beside what the plan allows for as much."""

from __future__ import annotations

from itertools import accumulate

from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.monitoring.selectors import Period, Watched

WIDTH, HEIGHT = 100, 30


def spending(row: Watched) -> SafeString:
    """Draw the money spent over time, and what the plan would have spent on the same HITs."""
    if len(row.periods) < 2 or not row.progress.n_hits:
        return SafeString("")
    spent = list(accumulate(period.cents for period in row.periods))
    # more HITs come in than are done where some were asked again: the plan has none of these
    sent = list(accumulate(period.n_hits for period in row.periods))
    plan = [
        row.progress.budget_cents * min(n, row.progress.n_hits) / row.progress.n_hits
        for n in sent
    ]
    top = max(*spent, *plan, 1)
    return format_html(
        '<svg class="spending" viewBox="0 0 {} {}" preserveAspectRatio="none" '
        'aria-hidden="true" focusable="false">'
        '<polyline class="plan" points="{}"/><polyline class="spent" points="{}"/></svg>',
        WIDTH,
        HEIGHT,
        _points(row.periods, plan, top),
        _points(row.periods, [float(cents) for cents in spent], top),
    )


def _points(periods: list[Period], values: list[float], top: float) -> str:
    first, last = periods[0].start, periods[-1].start
    whole = (last - first).total_seconds()
    return " ".join(
        f"{WIDTH * (period.start - first).total_seconds() / whole:.4g},"
        f"{HEIGHT * (1 - value / top):.4g}"
        for period, value in zip(periods, values, strict=True)
    )
