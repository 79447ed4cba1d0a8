"""Text formats: plain, Markdown, code, or conversation.

Text written by programs is shown and never executed: no raw HTML, no link, no picture.
Only Markdown's layout is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from crowd.hit_templates.form import CODE, CONVERSATION, MARKDOWN, PLAIN
from genie.lib.formats import MOST_TURNS, turns_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


# Texts of an item that are rendered like its outputs.
_AS_OUTPUTS = ("prediction", "reference", "standard")
# Headings within a text are below the page's own.
_LEVELS_DOWN = 2
# Texts with more Markdown signs, lines and cells are shown as plain text: a page has at
# most 50 texts, and each sign may cost 25 microseconds and 22 bytes.
MOST_SIGNS = 1_000
_SIGNS = re.compile(r"[!-/:-@\[-`{-~\r\n]")
_LINE_ENDS = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Formatted:
    html: SafeString
    kind: str


class Text(str):
    __slots__ = ("layout",)
    layout: str


def with_layout(text: str, layout: str = PLAIN) -> str:
    if layout == PLAIN:
        return text
    known = Text(text)
    known.layout = layout
    return known


def in_formats(known: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(known)
    of_outputs = data.get("format", PLAIN)
    if isinstance(known.get("fields"), list):
        found["fields"] = [
            _with_html(entry, entry.get("format", PLAIN)) for entry in known["fields"]
        ]
    if isinstance(known.get("outputs"), list):
        found["outputs"] = [_with_html(entry, of_outputs) for entry in known["outputs"]]
        found["lined_up"] = of_outputs == CONVERSATION and all(
            len(turns_of(entry["text"])) <= MOST_TURNS for entry in known["outputs"]
        )
    for name in _AS_OUTPUTS:
        if isinstance(known.get(name), str):
            found[f"{name}_html"] = format_text(known[name], of_outputs)
    return found


def _with_html(entry: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    html = format_text(entry["text"], kind)
    return entry if html is None else {**entry, "html": html}


def format_text(text: str, kind: str) -> Formatted | None:
    r"""Render a text; None: it is shown as plain text.

    Unknown kinds are shown as plain text.
    """
    if not text.strip():
        return None  # The page says that it is empty.
    if kind == MARKDOWN:
        if _n_signs(text) > MOST_SIGNS:
            return None
        html: str = _markdown().render(text)
        # Raw HTML is disabled below.
        return Formatted(mark_safe(html), kind)  # noqa: S308
    if kind == CODE:
        return Formatted(format_html("<pre><code>{}</code></pre>", text), kind)
    if kind == CONVERSATION:
        turn = (
            '<div class="turn"><p class="role">{}</p><div class="speech">{}</div></div>'
        )
        return Formatted(format_html_join("", turn, turns_of(text)), kind)
    return None


def _n_signs(text: str) -> int:
    n_cells = n_columns = 0
    for line in _LINE_ENDS.split(text):
        # A table ends at an empty line.
        n_columns = max(n_columns, line.count("|")) if line.strip(" \t") else 0
        n_cells += n_columns
    return n_cells + len(_SIGNS.findall(text))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # A link would lead away from the page, and an image would reveal who looks at it.
    parser.disable(["link", "image", "autolink", "reference"])
    parser.add_render_rule("heading_open", _lower)
    parser.add_render_rule("heading_close", _lower)
    return parser


def _lower(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    token.tag = f"h{min(6, int(token.tag[1]) + _LEVELS_DOWN)}"
    return str(self.renderToken(tokens, index, options, env))


def to_html(markdown: str) -> SafeString:
    """Render Markdown as HTML without raw HTML from the text."""
    html: str = _commonmark().render(markdown)
    return mark_safe(html)  # noqa: S308 - html is disabled below


@cache
def _commonmark() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Raw HTML in a Markdown file is shown, not executed.
    return MarkdownIt("commonmark", {"html": False}).enable("table")
