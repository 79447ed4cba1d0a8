"""Terms of docs/glossary.md, and links to them beside their first use on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from django.urls import reverse
from django.utils.text import slugify

if TYPE_CHECKING:
    from markdown_it.token import Token

# Terms that are everyday words, too: a link beside each would mislead more than help.
EVERYDAY = {
    "adjusted", "agreement", "answer", "approve", "attempt", "batch", "board", "bonus",
    "consent", "decline", "design", "events", "fee", "final", "group", "head", "job",
    "judge", "label", "notice", "output", "payment", "progress", "publish", "rate",
    "role", "sandbox", "signature", "staff", "state", "submission", "submit", "system",
    "task", "team", "validate", "version", "withdraw", "worker",
}  # fmt: skip
_TITLE = 180


class Term(NamedTuple):
    """An entry: what it is called, how pages write it, where it stands, what it means."""

    title: str
    names: tuple[str, ...]
    anchor: str
    meaning: str


def anchor_of(cell: str) -> str:
    """Give the anchor of the row that begins with this cell.

    Examples
    --------
    >>> anchor_of("**confidence interval** (short: interval, 95 % interval)")
    'term-confidence-interval'
    """
    return f"term-{slugify(_bold(cell))}"


def terms_in(tokens: list[Token]) -> list[Term]:
    """Read the rows of the glossary's table."""
    cells = [
        tokens[at + 1].content
        for at, token in enumerate(tokens)
        if token.type == "td_open"
    ]
    return [
        Term(_bold(cell), _names(cell), anchor_of(cell), _plain(meaning))
        for cell, meaning in zip(cells[::2], cells[1::2], strict=True)
    ]


class Linker:
    """Links the first use of each term on one page."""

    def __init__(self, terms: list[Term]) -> None:
        """Know the terms; none has been used."""
        self._by_name = {name.lower(): term for term in terms for name in term.names}
        self._used: set[str] = set()

    def link(self, children: list[Token]) -> list[Token]:
        """Put links into a line's tokens, but not into links and code that it has."""
        linked: list[Token] = []
        depth = 0
        for token in children:
            depth += token.type == "link_open"
            depth -= token.type == "link_close"
            if token.type == "text" and not depth:
                linked += self._in_text(token)
            else:
                linked.append(token)
        return linked

    def _in_text(self, token: Token) -> Iterator[Token]:
        from markdown_it.token import Token

        end = 0
        for match in _pattern(tuple(self._by_name)).finditer(token.content):
            term = self._by_name[match[1].lower()]
            if term.anchor in self._used:
                continue
            self._used.add(term.anchor)
            yield Token("text", "", 0, content=token.content[end : match.start()])
            address = (
                f"{reverse('leaderboard:docs-page', args=['glossary'])}#{term.anchor}"
            )
            attrs: dict[str, str | int | float] = {
                "href": address,
                "class": "term",
                "title": _short(term.meaning),
            }
            yield Token("link_open", "a", 1, attrs=attrs)
            yield Token("text", "", 0, content=match[0])
            yield Token("link_close", "a", -1)
            end = match.end()
        yield Token("text", "", 0, content=token.content[end:])


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name) for name in longest_first)
    # a term is a word of its own, and may stand in the plural
    return re.compile(rf"(?<![\w-])({words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _names(cell: str) -> tuple[str, ...]:
    """List how a term is written.

    Examples
    --------
    >>> _names("**confidence interval** (short: interval, 95 % interval)")
    ('confidence interval', 'interval', '95 % interval')
    >>> _names("**provisional, final**")
    ('provisional',)
    """
    others = cell.rpartition("** (")[2].rstrip(")") if "** (" in cell else ""
    listed = f"{_bold(cell)}, {others.removeprefix('short: ')}".split(", ")
    return tuple(name for name in listed if name and name not in EVERYDAY)


def _bold(cell: str) -> str:
    return cell.split("**")[1]


def _plain(markdown: str) -> str:
    return re.sub(r"[*`]|\[([^]]*)\]\([^)]*\)", r"\1", markdown)


def _short(text: str) -> str:
    """Keep the whole sentences that fit into a title, but at least the first."""
    first, *others = re.split(r"(?<=[.:]) (?=[A-Z*])", text)
    for sentence in others:
        if len(first) + len(sentence) > _TITLE or sentence.startswith("Not:"):
            break
        first += f" {sentence}"
    return first
