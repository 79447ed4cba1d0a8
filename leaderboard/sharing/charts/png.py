"""PNG of an SVG of ours, the same on every machine."""

from __future__ import annotations

import re
from pathlib import Path

_FONTS = Path(__file__).resolve().parent.parent / "fonts"
# What the font beside this has not: the machine's own are looked through only then, which
# takes a hundred times as long as drawing.
_OTHER_SCRIPTS = re.compile(r"[\u0530-\u1dff\u2c00-\U0010ffff]")


def as_png(svg: str, zoom: int) -> bytes:
    """Draw an SVG with so many pixels for each of its own."""
    import resvg_py

    drawn: bytes = resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        font_files=[str(path) for path in sorted(_FONTS.glob("*.ttf"))],
        skip_system_fonts=not _OTHER_SCRIPTS.search(svg),
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
    )
    return bytes(drawn)
