"""A board as one SVG that stands alone: its own colours, a font that it may find, no links.

Colours and sizes are attributes: a policy that forbids styles in pages holds for pictures that
are opened by themselves, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.boards.selectors.rows import Human
from leaderboard.charts.axis import Axis, label
from leaderboard.sharing.selectors.picture import BoardPicture, Line
from leaderboard.sharing.selectors.plain import plain

# how wide "[100.0, 100.0]" stands, by the size of its letters
_INTERVAL_SIGNS = 7
_FONT = "DejaVu Sans,Verdana,Noto Sans,sans-serif"
_MARK = SafeString(
    '<path d="M1 8h32" stroke-width="1.5"/><path d="M9 8h14" stroke-width="4"/>'
    '<circle cx="16" cy="8" r="5" stroke="none"/>'
)


@dataclass(frozen=True)
class Colours:
    """As the site's own in light and in dark."""

    paper: str
    ink: str
    quiet: str
    line: str
    human: str
    simulated: str


THEMES = {
    "light": Colours("#fbfaf6", "#141c24", "#59656f", "#dedad0", "#0b5a60", "#68448f"),
    "dark": Colours("#10171d", "#eef1f2", "#98a4ae", "#2b3640", "#74d0ca", "#c8aceb"),
}


@dataclass(frozen=True)
class Layout:
    """Where things stand, in pixels; `height` is as much as the lines need where it is 0."""

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
# what chats and social sites show of a link
CARD = Layout(1200, 630, 56, 44, 24, 20, 50, 164, 790)
CARD_SYSTEMS = 7


def draw(picture: BoardPicture, layout: Layout = PICTURE, theme: str = "light") -> str:
    """Draw a board: title, what was asked of whom, systems with intervals, date, address."""
    colours = THEMES[theme]
    at = layout
    titles = _wrapped(picture.title, at.width - 2 * at.margin, at.title)
    top = at.margin + at.title
    below = top + (len(titles) - 1) * round(1.25 * at.title)
    first = below + 2 * at.text + round(1.6 * at.small)
    if at.height:
        picture = _cut(picture, (at.height - 2 * at.margin - first) // at.row)
    last = first + at.row * len(picture.lines)
    height = at.height or last + 2 * at.row + at.margin
    parts = [
        *(
            _text(
                at.margin, top + i * round(1.25 * at.title), line, at.title, bold=True
            )
            for i, line in enumerate(titles)
        ),
        _text(
            at.margin,
            below + round(1.6 * at.text),
            _fitting(picture.about, at.width - 2 * at.margin, at.text),
            at.text,
            fill=colours.quiet,
        ),
        _scale(picture.axis, at, colours, first, last) if picture.axis else "",
        *_lines(picture, at, colours, first),
        _foot(picture, at, colours, last, height),
    ]
    return _sheet(at, height, colours, f"{picture.title}: leaderboard", parts)


def _cut(picture: BoardPicture, n: int) -> BoardPicture:
    """Leave so many lines, the last of them free for saying how many more there are."""
    lines = picture.lines[
        : n if len(picture.lines) <= n and not picture.n_more else n - 1
    ]
    more = picture.n_more + len(picture.lines) - len(lines)
    return replace(picture, lines=lines, n_more=more)


def draw_site(title: str, words: Sequence[str]) -> str:
    """Draw the card of the site as a whole."""
    at, colours = CARD, THEMES["light"]
    parts = [
        format_html(
            '<g transform="translate({} 120) scale(6)" stroke="{}" fill="{}">{}</g>',
            at.margin,
            colours.human,
            colours.human,
            _MARK,
        ),
        _text(at.margin, 350, title, 110, bold=True),
        *(
            _text(at.margin, 430 + 50 * i, line, 36, fill=colours.quiet)
            for i, line in enumerate(words)
        ),
    ]
    return _sheet(at, at.height, colours, title, parts)


def _sheet(
    at: Layout, height: int, colours: Colours, name: str, parts: Iterable[str]
) -> str:
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" '
        'viewBox="0 0 {w} {h}" role="img" font-family="{font}" fill="{ink}">'
        '<title>{name}</title><rect width="{w}" height="{h}" fill="{paper}"/>{parts}</svg>\n',
        w=at.width,
        h=height,
        font=_FONT,
        ink=colours.ink,
        paper=colours.paper,
        name=plain(name),
        parts=format_html_join("", "{}", ((part,) for part in parts)),
    )


def _lines(
    picture: BoardPicture, at: Layout, colours: Colours, first: int
) -> Iterable[SafeString]:
    axis = picture.axis
    for i, line in enumerate(picture.lines if axis else ()):
        middle = first + at.row * i + at.row // 2
        base = middle + round(at.text * 0.36)
        colour = colours.simulated if line.simulated else colours.human
        yield _text(at.margin, base, line.rank, at.text, fill=colours.quiet)
        yield _system(line, at, colours, base)
        yield _score(line.human, at, colours, base)
        if axis:
            yield _bar(axis, line, at, colour, middle, colours.paper)


def _score(human: Human, at: Layout, colours: Colours, base: int) -> SafeString:
    interval = at.score - _INTERVAL_SIGNS * at.small
    return format_html(
        '<text x="{}" y="{y}" text-anchor="end" font-size="{}" font-weight="bold">{}</text>'
        '<text x="{}" y="{y}" font-size="{}" fill="{}">{}</text>',
        round(interval - at.small / 2, 1),
        at.text,
        f"{human.mean:.1f}",
        interval,
        at.small,
        colours.quiet,
        f"[{human.low:.1f}, {human.high:.1f}]",
        y=base,
    )


def _system(line: Line, at: Layout, colours: Colours, base: int) -> SafeString:
    room = at.score - at.system - _INTERVAL_SIGNS * at.small - 4 * at.text
    note = _fitting(line.note, room * 0.45, at.small)
    name = _fitting(line.system, room - _width(note, at.small), at.text)
    return format_html(
        '<text x="{}" y="{}" font-size="{}">{}<tspan dx="{}" font-size="{}" fill="{}">{}</tspan></text>',
        at.system,
        base,
        at.text,
        name,
        at.small // 2,
        at.small,
        colours.simulated if line.simulated else colours.quiet,
        note,
    )


def _bar(
    axis: Axis, line: Line, at: Layout, colour: str, middle: int, paper: str
) -> SafeString:
    """Draw 95 % thin, 50 % thick, the estimate a dot; hollow where it is simulated."""
    human, x = line.human, at.score + at.small
    return format_html(
        '<svg x="{x}" y="{y}" width="{w}" height="{h}" stroke="{c}" fill="{fill}">'
        '<line x1="{}" x2="{}" y1="50%" y2="50%" stroke-width="1.5"/>'
        '<line x1="{}" x2="{}" y1="50%" y2="50%" stroke-width="{thick}" stroke-opacity=".38"/>'
        '<circle cx="{}" cy="50%" r="{r}" stroke-width="1.5"/></svg>',
        axis.at(human.low),
        axis.at(human.high),
        axis.at(human.low_50),
        axis.at(human.high_50),
        axis.at(human.mean),
        x=x,
        y=middle - at.row // 2,
        w=at.width - at.margin - x,
        h=at.row,
        c=colour,
        fill=paper if line.simulated else colour,
        thick=at.text // 2,
        r=round(at.text * 0.36, 1),
    )


def _scale(
    axis: Axis, at: Layout, colours: Colours, first: int, last: int
) -> SafeString:
    """Write the ticks above the bars, each with a line through all of them."""
    x = at.score + at.small
    # the numbers at the ends would be cut off inside a window of the bars' own width
    span = at.width - at.margin - x
    places = [x + span * float(axis.at(tick).rstrip("%")) / 100 for tick in axis.ticks]
    return format_html_join(
        "",
        '<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="{3}"/>'
        '<text x="{0}" y="{4}" text-anchor="middle" font-size="{5}" fill="{6}">{7}</text>',
        (
            (
                f"{place:.1f}",
                first,
                last,
                colours.line,
                first - 6,
                at.small,
                colours.quiet,
                label(tick),
            )
            for place, tick in zip(places, axis.ticks, strict=True)
        ),
    )


def _foot(
    picture: BoardPicture, at: Layout, colours: Colours, last: int, height: int
) -> SafeString:
    base = height - at.margin
    more = (
        _text(
            at.system,
            last + at.row - at.small // 2,
            f"and {picture.n_more:,} more",
            at.text,
            fill=colours.quiet,
        )
        if picture.n_more
        else ""
    )
    room = at.width - 2 * at.margin - _width(picture.date, at.small) - 2 * at.small
    return format_html(
        '{}<line x1="{x}" x2="{right}" y1="{y}" y2="{y}" stroke="{line}"/>{}'
        '<text x="{right}" y="{base}" text-anchor="end" font-size="{size}" fill="{human}">{}</text>',
        more,
        _text(at.margin, base, picture.date, at.small, fill=colours.quiet),
        _fitting(picture.address.partition("://")[2], room, at.small),
        x=at.margin,
        right=at.width - at.margin,
        y=base - 2 * at.small,
        base=base,
        line=colours.line,
        size=at.small,
        human=colours.human,
    )


def _text(
    x: int, y: int, text: str, size: int, *, fill: str = "", bold: bool = False
) -> SafeString:
    return format_html(
        '<text x="{}" y="{}" font-size="{}"{}{}>{}</text>',
        x,
        y,
        size,
        format_html(' fill="{}"', fill) if fill else "",
        SafeString(' font-weight="bold"') if bold else "",
        plain(text),
    )


def _width(text: str, size: float) -> float:
    """Guess how wide a text stands: no font can be measured here, DejaVu is a wide one."""
    return size * sum(_sign_width(sign) for sign in text)


def _sign_width(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in "ijl.,:;'|!()[]{}ftrI /-":
        return 0.4
    return 0.78 if sign.isupper() or sign in "mw@%" else 0.63


def _fitting(text: str, room: float, size: float) -> str:
    """Cut a text where its room ends."""
    text = plain(text)
    if _width(text, size) <= room:
        return text
    while text and _width(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _wrapped(text: str, room: float, size: float) -> list[str]:
    """Put a title on two lines at most."""
    # letters of a bold title are wider by a tenth
    words, first = plain(text).split(), ""
    while words and _width(f"{first} {words[0]}", 1.1 * size) <= room:
        first = f"{first} {words.pop(0)}".strip()
    rest = _fitting(" ".join(words), room, 1.1 * size)
    return [line for line in (first, rest) if line] or [""]
