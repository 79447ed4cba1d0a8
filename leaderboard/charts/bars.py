"""Plain bars: a share of a whole."""

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString


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
