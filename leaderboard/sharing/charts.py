"""A board as one self-contained SVG, and as PNG."""

import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from leaderboard.charts import Axis, label
from leaderboard.sharing.selectors import BoardPicture, Line

# the width of "[100.0, 100.0]" relative to the font size
_INTERVAL = 7


@dataclass(frozen=True)
class Colours:
    paper: str
    ink: str
    quiet: str
    line: str
    human: str
    simulated: str
    others: str


THEMES = {
    "light": Colours(
        "#fbfaf6", "#141c24", "#59656f", "#dedad0", "#0b5a60", "#68448f", "#8d2f68"
    ),
    "dark": Colours(
        "#10171d", "#eef1f2", "#98a4ae", "#2b3640", "#74d0ca", "#c8aceb", "#f2a5cf"
    ),
}


@dataclass(frozen=True)
class Layout:
    """Positions in pixels; a `height` of 0 means as much as the lines need."""

    width: int
    height: int
    margin: int
    title: int
    text: int
    small: int
    row: int
    # where systems begin and scores end; bars have the rest
    system: int
    score: int


PICTURE = Layout(960, 0, 28, 24, 15, 13, 30, 92, 596)
# the size of link previews in chats and social sites
CARD = Layout(1200, 630, 56, 44, 24, 20, 50, 164, 790)
CARD_SYSTEMS = 7


def draw(picture: BoardPicture, at: Layout = PICTURE, theme: str = "light") -> str:
    room, leading = at.width - 2 * at.margin, round(1.25 * at.title)
    titles = _wrap_text(picture.title, room, at.title)
    below = at.margin + at.title + (len(titles) - 1) * leading
    first = below + 2 * at.text + round(1.6 * at.small)
    if at.height:
        picture = _cut(picture, (at.height - 2 * at.margin - first) // at.row)
    last = first + at.row * len(picture.lines)
    height = at.height or last + 2 * at.row + at.margin
    foot_room = room - _width(picture.date, at.small) - at.small
    address = picture.address.partition("://")[2]
    # shrunk before it is cut: readers may want to type it
    size = at.small * max(0.7, min(1, foot_room / _width(address, at.small)))
    context = {
        "picture": picture,
        "at": at,
        "colours": THEMES[theme],
        "font": "DejaVu Sans,Verdana,Noto Sans,sans-serif",
        "height": height,
        "titles": [(below - leading * i, t) for i, t in enumerate(reversed(titles))],
        "about": _fit_text(picture.about, room, at.text),
        "about_y": below + round(1.6 * at.text),
        "first": first,
        "last": last,
        **_columns(picture, at, THEMES[theme], first),
        "ticks_y": first - 6,
        "more_y": last + at.row - at.small // 2,
        "right": at.width - at.margin,
        "rule_y": height - at.margin - 2 * at.small,
        "foot_y": height - at.margin,
        "address": _fit_text(address, foot_room, size),
        "address_size": round(size, 1),
    }
    return render_to_string("leaderboard/sharing/board.svg", context)


def _cut(picture: BoardPicture, n: int) -> BoardPicture:
    whole = len(picture.lines) <= n and not picture.n_more
    lines = picture.lines[: n if whole else n - 1]
    more = picture.n_more + len(picture.lines) - len(lines)
    return replace(picture, lines=lines, n_more=more)


def _columns(
    picture: BoardPicture, at: Layout, colours: Colours, first: int
) -> dict[str, Any]:
    ours = colours.others if picture.imported else colours.human
    x, interval = at.score + at.small, at.score - _INTERVAL * at.small
    span, axis = at.width - at.margin - x, picture.axis
    shares = [float(axis.at(tick).rstrip("%")) for tick in axis.ticks] if axis else []
    return {
        "bars_x": x,
        "bars": span,
        "ticks": [
            (f"{x + span * share / 100:.1f}", label(tick))
            for tick, share in zip(axis.ticks if axis else (), shares, strict=True)
        ],
        "lines": [
            _draw_line(line, axis, at, colours, ours) | {"top": first + at.row * i}
            for i, line in enumerate(picture.lines)
            if axis
        ],
        "base": at.row // 2 + round(at.text * 0.36),
        "interval_x": interval,
        "mean_x": interval - at.small // 2,
        "gap": at.text // 2,
        "dot": round(at.text * 0.36, 1),
    }


def _draw_line(
    line: Line, axis: Axis, at: Layout, colours: Colours, human: str
) -> dict[str, Any]:
    room = at.score - at.system - _INTERVAL * at.small - 4 * at.text
    note = _fit_text(line.note, room * 0.45, at.small)
    ends = ("mean", "low", "high")
    return {
        "line": line,
        "note": note,
        "name": _fit_text(line.system, room - _width(note, at.small), at.text),
        "colour": colours.simulated if line.simulated else human,
        "note_colour": colours.simulated if line.simulated else colours.quiet,
        **{end: axis.at(getattr(line.human, end)) for end in ends},
        "inner": [axis.at(end) for end in line.human.inner],
    }


def _width(text: str, size: float) -> float:
    """Estimate the width of a text: no font can be measured here, DejaVu is a wide one."""
    return size * sum(_sign_width(sign) for sign in text)


def _sign_width(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in "ijl.,:;'|!()[]{}ftrI /-":
        return 0.4
    if sign in "mwMW@%":
        return 0.95
    return 0.75 if sign.isupper() else 0.63


def _fit_text(text: str, room: float, size: float) -> str:
    if _width(text, size) <= room:
        return text
    while text and _width(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _wrap_text(text: str, room: float, size: float) -> list[str]:
    # letters of a bold title are wider by a tenth
    words, first = text.split(), ""
    while words and _width(f"{first} {words[0]}", 1.1 * size) <= room:
        first = f"{first} {words.pop(0)}".strip()
    rest = _fit_text(" ".join(words), room, 1.1 * size)
    return [line for line in (first, rest) if line] or [""]


_FONTS = Path(__file__).resolve().parent / "fonts"
# Characters that the included font lacks: only these need the machine's fonts, which
# take a hundred times as long as drawing.
_OTHER_SCRIPTS = re.compile(r"[\u0530-\u1dff\u2c00-\U0010ffff]")


def as_png(svg: str, zoom: int) -> bytes:
    """Render an SVG with `zoom` pixels for each of its pixels."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            font_files=[str(path) for path in sorted(_FONTS.glob("*.ttf"))],
            skip_system_fonts=not _OTHER_SCRIPTS.search(svg),
            font_family="DejaVu Sans",
            sans_serif_family="DejaVu Sans",
        )
    )
