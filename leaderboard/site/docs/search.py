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
            "From the data set's page below, download the data of αNLG and take `test.jsonl`. "
            "If its hypotheses are called `hyp1` and `hyp2`, take `test-labels.lst`, too.",
        )
    ),
    "arc-da": Source(
        (
            "From the data set's page below, download ARC-DA, unpack it, and use the "
            "folder that contains `test.jsonl`.",
        )
    ),
    "wmt19-de-en": Source(
        (
            "Download WMT's test sets: "
            "https://data.statmt.org/wmt19/translation-task/test.tgz",
            "Unpack them and use the folder `sgm`, which contains "
            "`newstest2019-deen-src.de.sgm` and `newstest2019-deen-ref.en.sgm`.",
        )
    ),
    "wmt21-de-en": Source(
        (
            "From WMT's repository "
            "https://github.com/wmt-conference/wmt21-news-systems take "
            "`xml/newstest2021.de-en.all.xml` and put it into a separate folder.",
            "Or write `ids.txt`, `source.txt` and `reference.A.txt`, one segment per line, "
            "and leave out `--reader`.",
        ),
        "DIR --reader wmt-xml",
    ),
    "xsum": Source(
        (
            "The data set's page below explains how to collect the articles. Write them to "
            "`test.jsonl`, one object per line.",
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
_BEFORE, _AROUND, _FOUND, _WORDS = 8, 32, 20, 12
# the weights of a word in a section's heading, and in its page's title
_IN_HEADING, _IN_TITLE, _ALSO = 10, 4, 3
# stop words of questions
_SMALL = re.compile(
    "an?|and|any|are|as|at|be|been|before|by|can|do|does|for|from|get|has|have|how|i|if|in|is"
    "|it|its|like|long|look|many|may|me|means?|much|my|need|no|not|of|on|one|or|our|own|per"
    "|really|should|so|some|than|that|the|there|these|they|this|those|to|too|until|us|was|we"
    "|want|what|when|where|which|who|whose|why|will|with|would|you|your",
    re.IGNORECASE,
)
# readers want a guide more often than a formula
_PRIORS = {"guides": 1.2, "methods": 0.85}
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|ers?|es|(?<!s)s|e)$")


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
    prior: float = 1.0


def search(query: str) -> list[Hit]:
    """Return the sections with any word of a query, best first."""
    asked = [w for w in _words(query) if not _SMALL.fullmatch(w)] or _words(query)
    entries, weight_of = _index(contents.change_times())
    known = weight_of.keys() & set(map(_stem, asked[:_WORDS]))

    def rank(entry: _Entry) -> float:
        """Return BM25 (S. Robertson and H. Zaragoza 2009), weighted by the words found."""
        shared = known & entry.weights.keys()
        half = 1 + entry.weights.total() / 100
        each = (weight_of[w] / (1 + half / entry.weights[w]) for w in shared)
        return sum(each) * sum(weight_of[w] for w in shared) * entry.prior

    found = (entry for entry in entries if known & entry.weights.keys())
    return [
        Hit(e.slug, e.anchor, e.page, e.section, _snippet(e.text, known))
        for e in sorted(found, key=rank, reverse=True)[:_FOUND]
    ]


@lru_cache(maxsize=1)
def _index(_changed: tuple[int, ...]) -> tuple[list[_Entry], dict[str, float]]:
    entries = [
        _entry(slug, page.title, section, "" if section.anchor else also)._replace(
            prior=_PRIORS.get(shelf.slug, 1.0)
        )
        for shelf in contents.SHELVES
        for slug in shelf.pages
        for page, also in [(contents.page(slug), contents.SEARCHED.get(slug, ""))]
        for section in page.sections
        if slug != contents.GLOSSARY
    ]
    # in the glossary, each term is a separate result
    entries += [
        _entry(contents.GLOSSARY, "Glossary", term) for term in contents.terms()
    ]
    entries += [
        _entry(f"tasks/{one.config.slug}", one.config.title, _task_section(one))
        for one in shipped_tasks()
    ]
    within = Counter(word for entry in entries for word in entry.weights)
    return entries, {word: math.log(1 + len(entries) / n) for word, n in within.items()}


def _task_section(task: ShippedTask) -> Section:
    config = task.config
    text = " ".join([config.summary, config.description, config.slug, task.command])
    return Section("", config.title, text)


def _entry(slug: str, page: str, section: Section, also: str = "") -> _Entry:
    titles = [*[section.title] * _IN_HEADING, *[page] * _IN_TITLE]
    weights = Counter(
        map(_stem, _words(" ".join([section.text, *titles, *[also] * _ALSO])))
    )
    return _Entry(slug, section.anchor, page, section.title, section.text, weights)


def _stem(word: str) -> str:
    """Strip endings of a word, so that a question matches other forms.

    Examples
    --------
    >>> [_stem(word) for word in ["ratings", "rated", "rater", "class"]]
    ['rat', 'rat', 'rat', 'class']
    """
    return _ENDING.sub("", word.removesuffix("ly"))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("e-mail", "email"))


def _snippet(text: str, words: set[str]) -> SafeString:
    parts = text.split()
    has = [any(_stem(w) in words for w in _words(part)) for part in parts]
    start = max(0, (has.index(True) if True in has else 0) - _BEFORE)
    end = start + _AROUND
    shown = zip(has[start:end], parts[start:end], strict=True)
    marked = format_html_join(
        " ", "{}", ((_highlight(part) if hit else part,) for hit, part in shown)
    )
    before, after = "… " if start else "", " …" if end < len(parts) else ""
    return SafeString(before + marked + after)


def _highlight(part: str) -> SafeString:
    return format_html_join("", "<mark>{}</mark>", [(part,)])
