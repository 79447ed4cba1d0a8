"""From Markdown to a page: anchors, contents, links between pages, wide tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.text import slugify

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Heading(NamedTuple):
    level: int
    anchor: str
    title: str


class Section(NamedTuple):
    anchor: str
    title: str
    text: str


class Rendered(NamedTuple):
    title: str
    lead: str
    html: str
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]


@cache
def parser() -> MarkdownIt:
    """Return the shared parser; it recognizes raw HTML so that comments can be removed."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    markdown.add_render_rule("fence", _code)
    markdown.add_render_rule("code_block", _code)
    markdown.add_render_rule("heading_close", _heading_close)
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    markdown.add_render_rule("html_block", lambda *_: "")
    markdown.add_render_rule("html_inline", lambda *_: "")
    return markdown


def render(markdown: str, *, link: Callable[[str], str]) -> Rendered:
    """Render a page; `link` maps a relative link to its address on the site."""
    tokens = parser().parse(markdown)
    title, headings = _with_anchors(tokens)
    for token in tokens:
        for child in token.children or ():
            _lead_elsewhere(child, link)
    body = tokens[3:]  # the title is the template's
    return Rendered(
        title,
        _lead(body),
        parser().renderer.render(body, parser().options, {}),
        tuple(headings),
        tuple(_sections(title, body)),
    )


def terms_in(markdown: str) -> list[Section]:
    tokens = parser().parse(markdown)
    cells = [tokens[i + 1] for i, token in enumerate(tokens) if token.type == "td_open"]
    return [
        Section(_term(cell.content), cell.content.split("**")[1], words_of(meaning))
        for cell, meaning in zip(cells[::2], cells[1::2], strict=True)
    ]


def _term(cell: str) -> str:
    """Return the anchor of a row of the glossary.

    Examples
    --------
    >>> _term("**confidence interval** (short: interval, 95% interval)")
    'term-confidence-interval'
    """
    return f"term-{slugify(cell.split('**')[1])}"


def in_line(markdown: str) -> str:
    return str(parser().renderInline(re.sub(r"https?://\S+\w", r"<\g<0>>", markdown)))


def slug(title: str) -> str:
    """Return a heading's anchor as source hosts form it.

    Examples
    --------
    >>> slug("The past"), slug("P(A > B), and `genie up`")
    ('the-past', 'pa--b-and-genie-up')
    """
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def words_of(token: Token) -> str:
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or []
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def _with_anchors(tokens: list[Token]) -> tuple[str, list[Heading]]:
    title, found, seen = "", list[Heading](), dict[str, int]()
    for at, token in enumerate(tokens):
        words = words_of(tokens[at + 1]) if token.type.endswith("_open") else ""
        if token.type == "heading_open":
            name = slug(words)
            n = seen[name] = seen.get(name, -1) + 1
            token.attrSet("id", f"{name}-{n}" if n else name)
            if token.tag == "h1":
                title = title or words
            else:
                found.append(Heading(int(token.tag[1]), str(token.attrs["id"]), words))
        elif token.type == "th_open" and words:
            token.attrSet("scope", "col")
        elif token.type == "th_open":  # a heading without content is no heading
            token.tag = tokens[at + 2].tag = "td"
        elif token.type == "td_open" and tokens[at + 1].content.startswith("**"):
            # a term that other pages link to
            token.attrSet("id", _term(tokens[at + 1].content))
    return title, found


def _lead_elsewhere(token: Token, link: Callable[[str], str]) -> None:
    key = {"link_open": "href", "image": "src"}.get(token.type)
    if key is not None:
        target = str(token.attrs[key])
        if not re.match(r"[a-z]+:|[#/]", target):
            token.attrSet(key, link(target))
        if key == "src":
            token.attrSet("loading", "lazy")


def _lead(body: list[Token]) -> str:
    for at, token in enumerate(body):
        if token.type == "paragraph_open":
            return words_of(body[at + 1])
    return ""


def _sections(title: str, body: list[Token]) -> list[Section]:
    found, anchor, words = list[Section](), "", list[str]()
    for at, token in enumerate(body):
        if token.type == "heading_open":
            found.append(Section(anchor, title, " ".join(words)))
            anchor, title = str(token.attrs["id"]), words_of(body[at + 1])
            words = []
        elif token.type == "inline" and body[at - 1].type != "heading_open":
            words.append(words_of(token))
        elif token.type in ("fence", "code_block") and token.info != "text":
            words.append(token.content)
    return [*found, Section(anchor, title, " ".join(words))]


def _code(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    # a wide one scrolls with the keyboard
    return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


def _heading_close(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    opened, said = tokens[at - 2], escape(words_of(tokens[at - 1]))
    return (
        f'<a class="anchor" href="#{opened.attrs["id"]}" aria-label="Link to “{said}”">'
        f"#</a></{opened.tag}>\n"
    )


def _table_open(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    n = sum(token.type == "table_open" for token in tokens[: at + 1])
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table {n}"><table>'
    )
