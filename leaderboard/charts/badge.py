"""Badges for embedding in other sites, with built-in colors and without links."""

import unicodedata

from django.utils.html import format_html
from django.utils.safestring import SafeString

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
