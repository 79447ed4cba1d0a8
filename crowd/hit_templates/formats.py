"""How a text is shown: as it is, as Markdown, as code, or as a conversation.

What programs wrote is shown and never obeyed: no raw HTML, no link, no picture. Only the
layout that Markdown has words for is taken up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from genie.lib.formats.turns import MOST_TURNS, turns_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

PLAIN, MARKDOWN, CODE, CONVERSATION = "text", "markdown", "code", "conversation"
# Texts of an item that are shown as its outputs are.
_AS_OUTPUTS = ("prediction", "reference", "standard")
# A heading within a text stands below the page's own.
_LEVELS_DOWN = 2
# Texts with more signs, lines and cells are shown as they are: a page has 50 texts at
# most, and each sign may cost 25 microseconds and 22 bytes.
MOST_SIGNS = 1_000
_SIGNS = re.compile(r"[!-/:-@\[-`{-~\r\n]")
_LINE_ENDS = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Formatted:
    """A text as HTML, and the name of its layout for style sheets."""

    html: SafeString
    kind: str


class Text(str):
    """A text that is not plain, for pages that show it (`texts.laid_out`)."""

    __slots__ = ("layout",)
    layout: str


def with_layout(text: str, layout: str = PLAIN) -> str:
    """Let a text know its layout; a plain one stays as it is."""
    if layout == PLAIN:
        return text
    known = Text(text)
    known.layout = layout
    return known


def in_formats(known: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Add the HTML of texts that are not plain to the fields that a template shows."""
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
            found[f"{name}_html"] = formatted(known[name], of_outputs)
    return found


def _with_html(entry: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    html = formatted(entry["text"], kind)
    return entry if html is None else {**entry, "html": html}


def formatted(text: str, kind: str) -> Formatted | None:
    r"""Lay a text out; None: it is shown as it is.

    Parameters
    ----------
    text : str
    kind : str
        Anything else than the formats known is shown as plain text.

    Returns
    -------
    Formatted or None

    Examples
    --------
    >>> formatted("**Yes** <b>", MARKDOWN).html
    '<p><strong>Yes</strong> &lt;b&gt;</p>\n'
    >>> formatted("if a < b:", CODE).html
    '<pre><code>if a &lt; b:</code></pre>'
    >>> formatted("Yes", PLAIN)
    """
    if not text.strip():
        return None  # the page says that it is empty
    if kind == MARKDOWN:
        if _n_signs(text) > MOST_SIGNS:
            return None
        html: str = _markdown().render(text)
        # Raw HTML is switched off below.
        return Formatted(mark_safe(html), kind)  # noqa: S308
    if kind == CODE:
        return Formatted(format_html("<pre><code>{}</code></pre>", text), kind)
    if kind == CONVERSATION:
        return Formatted(_conversation(text), kind)
    return None


def _n_signs(text: str) -> int:
    """Count what may be Markdown; a table fills short rows up to all of its columns."""
    n_cells = n_columns = 0
    for line in _LINE_ENDS.split(text):
        # a table ends at an empty line
        n_columns = max(n_columns, line.count("|")) if line.strip(" \t") else 0
        n_cells += n_columns
    return n_cells + len(_SIGNS.findall(text))


def _conversation(text: str) -> SafeString:
    return format_html_join(
        "",
        '<div class="turn"><p class="role">{}</p><div class="speech">{}</div></div>',
        turns_of(text),
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # An address would lead away from the page, and a picture tell who looks at it.
    parser.disable(["link", "image", "autolink", "reference"])
    parser.add_render_rule("heading_open", _lower)
    parser.add_render_rule("heading_close", _lower)
    return parser


def _lower(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    token.tag = f"h{min(6, int(token.tag[1]) + _LEVELS_DOWN)}"
    return str(self.renderToken(tokens, index, options, env))
