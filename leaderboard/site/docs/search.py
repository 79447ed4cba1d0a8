"""Search over the sections of all pages, with an index in memory."""

import math
import re
import shlex
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from leaderboard.site.docs import contents
from leaderboard.site.docs import contents as pages
from leaderboard.site.docs.markdown import Section
from leaderboard.tasks.config.task import TaskConfig
from leaderboard.tasks.readers import all_readers
from leaderboard.tasks.services.configuration import usable
from leaderboard.tasks.shipped import FOLDER, data_of, definition


class Source(NamedTuple):
    """The content and name of the folder for ``--source``."""

    steps: tuple[str, ...]
    words: str = "DIR"


# Each step is one instruction. The texts belong to third parties and are not included.
_SOURCES = {
    "anlg": Source(
        (
            "From the data set's page below, download the data of αNLG and take `test.jsonl` "
            "(with `test-labels.lst`, where hypotheses stand there as `hyp1` and `hyp2`).",
        )
    ),
    "arc-da": Source(
        (
            "From the data set's page below, download ARC-DA, unpack it, and name the "
            "folder that holds `test.jsonl`.",
        )
    ),
    "wmt19-de-en": Source(
        (
            "Download WMT's test sets: "
            "https://data.statmt.org/wmt19/translation-task/test.tgz",
            "Unpack them and name the folder `sgm`, which holds "
            "`newstest2019-deen-src.de.sgm` and `newstest2019-deen-ref.en.sgm`.",
        )
    ),
    "wmt21-de-en": Source(
        (
            "From WMT's repository "
            "https://github.com/wmt-conference/wmt21-news-systems take "
            "`xml/newstest2021.de-en.all.xml` and put it into a folder of its own.",
            "Or write `ids.txt`, `source.txt` and `reference.A.txt`, one segment a line, "
            "and leave out `--reader`.",
        ),
        "DIR --reader wmt-xml",
    ),
    "xsum": Source(
        (
            "The data set's page below says how the articles are collected. Write them to "
            "`test.jsonl`, an object a line.",
        )
    ),
}


class ShippedTask(NamedTuple):
    config: TaskConfig
    brings_texts: bool
    steps: tuple[str, ...]
    layout: str
    command: str


def shipped_tasks() -> list[ShippedTask]:
    """Return all tasks: first those with included texts, then the others."""
    found = [shipped_task(path.parent.name) for path in FOLDER.glob("*/task.toml")]
    return sorted(found, key=lambda one: (not one.brings_texts, one.config.slug))


def shipped_names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))


def shipped_task(slug: str) -> ShippedTask:
    config = usable(slug, definition(slug))
    source = _SOURCES.get(slug, Source(()))
    brings = data_of(slug) is not None
    words = [] if brings else ["--source", *shlex.split(source.words)]
    return ShippedTask(
        config,
        brings,
        source.steps,
        all_readers()[config.release.reader].layout,
        shlex.join(["genie", "load-task", slug, *words]),
    )


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
        for one in shipped_tasks()
    ]
    within = Counter(word for entry in entries for word in entry.weights)
    return entries, {word: math.log(1 + len(entries) / n) for word, n in within.items()}


def _described(task: ShippedTask) -> Section:
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
