"""Search over the sections of all pages, with an index in memory."""

import math
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from leaderboard.site.docs import contents, pages, shipped
from leaderboard.site.docs.markdown import Section

_WORD = re.compile(r"\w+")
_BEFORE, _AROUND, _FOUND, _WORDS = 8, 32, 20, 8
# the weights of a word in a section's heading, and in its page's title
_IN_HEADING, _IN_TITLE = 8, 4
# stop words of questions
_SMALL = re.compile(
    "an?|and|are|can|does|do|for|how|i|in|is|it|may|means?|my|of|on|or|the|there|to"
    "|what|when|where|which|who|why|with",
    re.IGNORECASE,
)


class Hit(NamedTuple):
    slug: str
    anchor: str
    page: str
    section: str
    snippet: SafeString

    @property
    def address(self) -> str:
        hash_ = f"#{self.anchor}" if self.anchor else ""
        return f"{reverse('leaderboard:docs')}{self.slug}/{hash_}"


class _Entry(NamedTuple):
    slug: str
    anchor: str
    page: str
    section: str
    text: str
    weights: Counter[str]


def search(query: str) -> list[Hit]:
    """Return the sections with all words of a query, or else any; best first."""
    asked = [word for word in _WORD.findall(query) if not _SMALL.fullmatch(word)]
    words = list(dict.fromkeys(map(_stem, asked or _WORD.findall(query))))[:_WORDS]
    entries, weight_of = _index(pages.changed())
    known = [word for word in words if word in weight_of]
    if not known:
        return []
    every = [e for e in entries if all(word in e.weights for word in words)]
    some = every or [e for e in entries if any(word in e.weights for word in known)]

    def rank(entry: _Entry) -> float:
        counts = ((word, entry.weights[word]) for word in known)
        return sum(weight_of[word] * n / (n + 1.5) for word, n in counts)

    best = sorted(some, key=rank, reverse=True)[:_FOUND]
    return [
        Hit(e.slug, e.anchor, e.page, e.section, _snippet(e.text, {*known}))
        for e in best
    ]


@lru_cache(maxsize=1)
def _index(_changed: tuple[int, ...]) -> tuple[list[_Entry], dict[str, float]]:
    entries = [
        _entry(slug, page.title, section)
        for slug in contents.slugs()
        for page in [pages.page(slug)]
        for section in page.sections
        if slug != pages.GLOSSARY
    ]
    # in the glossary, each term is a separate result
    entries += [_entry(pages.GLOSSARY, "Glossary", term) for term in pages.terms()]
    entries += [
        _entry(f"tasks/{one.config.slug}", one.config.title, _described(one))
        for one in shipped.shipped()
    ]
    within = Counter(word for entry in entries for word in entry.weights)
    rare = {word: math.log(1 + len(entries) / n) for word, n in within.items()}
    return entries, rare


def _described(task: shipped.ShippedTask) -> Section:
    config = task.config
    text = " ".join([config.summary, config.description, config.slug, task.command])
    return Section("", config.title, text)


def _entry(slug: str, page: str, section: Section) -> _Entry:
    weights = Counter(map(_stem, _WORD.findall(section.text)))
    for title, weight in ((section.title, _IN_HEADING), (page, _IN_TITLE)):
        for word in _WORD.findall(title):
            weights[_stem(word)] += weight
    return _Entry(slug, section.anchor, page, section.title, section.text, weights)


def _stem(word: str) -> str:
    """Strip easy endings of a word.

    Examples
    --------
    >>> [_stem(word) for word in ["Tokens", "token", "class", "Bias"]]
    ['token', 'token', 'class', 'bia']
    """
    word = word.lower()
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


def _snippet(text: str, words: set[str]) -> SafeString:
    parts = text.split()
    has = [any(_stem(w) in words for w in _WORD.findall(part)) for part in parts]
    start = max(0, (has.index(True) if True in has else 0) - _BEFORE)
    end = start + _AROUND
    shown = zip(has[start:end], parts[start:end], strict=True)
    marked = format_html_join(
        " ", "{}", ((_marked(part) if hit else part,) for hit, part in shown)
    )
    before, after = "… " if start else "", " …" if end < len(parts) else ""
    return SafeString(before + marked + after)


def _marked(part: str) -> SafeString:
    return format_html_join("", "<mark>{}</mark>", [(part,)])
