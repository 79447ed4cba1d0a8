"""What people are to be asked: by default as the words of the question suggest."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

OVERALL = "overall"
# Of adults who read English silently: Brysbaert, How many words do we read per minute?,
# Journal of Memory and Language 109, 2019 (238 a minute).
WORDS_A_SECOND = 238 / 60
# To decide on a criterion and to find the next text.
_SECONDS_A_CRITERION, _SECONDS_A_PAGE = 4, 2
CENTS_AN_HOUR = 1_500


@dataclass(frozen=True)
class Way:
    """A way of asking: where it stands in task.toml, and with what.

    Parameters
    ----------
    table : str
        "human": one system at a time; "comparison": two beside each other.
    statement : str
        What is asked where nobody says it.
    """

    table: str
    design: str
    scale: str
    template: str
    statement: str


WAYS = {
    "direct-assessment": Way(
        "human",
        "direct-assessment",
        "likert-5",
        "general-judgement",
        "This is a good text for what was asked.",
    ),
    "slider": Way(
        "human", "slider", "slider-100", "general-judgement", "How good is the text?"
    ),
    "binary": Way(
        "human", "binary", "binary", "general-judgement", "The text is acceptable."
    ),
    "likert-6": Way(
        "human", "likert-6", "likert-6", "general-judgement", "How good is the text?"
    ),
    "two-choice": Way(
        "comparison",
        "two-choice",
        "two-choice",
        "two-choice-outputs",
        "Which text is better?",
    ),
}
# The papers' four tasks: their own page and their own statement.
KINDS = {
    "question-answering": (
        "question-answering",
        "This is a correct and reasonable answer to the question.",
    ),
    "summarization": (
        "summarization",
        "The summary says accurately what the article is about.",
    ),
    "abductive-commonsense": (
        "abductive-commonsense",
        "The middle sentence fits between the two observations.",
    ),
    "translation": (
        "translation",
        "The translation expresses the meaning of the reference adequately.",
    ),
}
_WHICH = re.compile(r"\s*(?:which|what|who)\b", re.IGNORECASE)
_HOW = re.compile(r"\s*(?:how|rate|to what)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Ask:
    """What to ask about outputs, whom, and how often.

    Parameters
    ----------
    criteria : mapping
        Criterion to its question; the first ranks. Empty: as the kind has it.
    design : str
        One of `WAYS`; empty: by the words of the first question.
    kind, summary : str
        `kind` is free; one of `KINDS` brings its own page and statement.
    volunteers : bool
        People who come by a link and are not paid: each may do everything, and no
        test questions are hidden.
    n_items, ratings : int
        How many inputs are judged (0: all, at most 300), and how often each.
    reward_cents : int, optional
        None: by reading time and 15 dollars an hour; nothing for volunteers.
    qualification : mapping, optional
        The test that workers pass first, as [human.qualification_test] has it.
    seconds : int, optional
        For one page, as a pilot has measured it; None: by reading time.
    tests_percent : int, optional
        Of each polarity; None: 5 where there are references and people are paid.
    blind : sequence of str
        Criteria that are judged without the input.
    instructions : str
        Markdown.
    consent : str
        Markdown; empty: the site's own.
    version_of : str
        The slug of the task that this is a new version of.
    template : str
        The HIT template; empty: by `kind` and `design`.
    metrics : sequence of str
        Empty: light ones, where there are references.
    items_per_page : int
        How many outputs, or pairs, stand on one page of this site.
    by_document : bool
        Whether a page has parts of one document only, which ids such as `news-12.3` name.
    """

    slug: str
    title: str
    criteria: Mapping[str, str] = field(default_factory=dict)
    design: str = ""
    kind: str = ""
    summary: str = ""
    platform: str = "selfhosted"
    volunteers: bool = True
    n_items: int = 0
    ratings: int = 1
    reward_cents: int | None = None
    qualification: Mapping[str, object] | None = None
    seconds: int | None = None
    tests_percent: int | None = None
    blind: Sequence[str] = ()
    checkboxes: Sequence[str] = ()
    instructions: str = ""
    consent: str = ""
    source_language: str = "en"
    target_language: str = "en"
    hidden_references: bool = False
    version_of: str = ""
    template: str = ""
    metrics: Sequence[str] = ()
    items_per_page: int = 1
    by_document: bool = False

    @property
    def way(self) -> Way:
        """Give the way of asking that was chosen, or that the first question suggests.

        Examples
        --------
        >>> Ask("a", "A", {"overall": "Which text is more fluent?"}).way.design
        'two-choice'
        >>> Ask("a", "A", {"overall": "How fluent is it?"}).way.design
        'slider'
        """
        if self.design in WAYS:
            return WAYS[self.design]
        question = next(iter(self.criteria.values()), "")
        if _WHICH.match(question):
            return WAYS["two-choice"]
        return WAYS["slider" if _HOW.match(question) else "direct-assessment"]


def seconds_for(texts: Sequence[str], n_criteria: int) -> int:
    """Estimate how long somebody needs for one page, until a pilot has measured it.

    Examples
    --------
    >>> seconds_for(["word " * 238], 1)
    66
    """
    n_words = sum(len(text.split()) for text in texts)
    answering = _SECONDS_A_PAGE + _SECONDS_A_CRITERION * n_criteria
    return math.ceil(n_words / WORDS_A_SECOND + answering)


def fair_cents(seconds: float) -> int:
    """Give the reward that is 15 dollars an hour.

    Examples
    --------
    >>> fair_cents(12), fair_cents(13)
    (5, 6)
    """
    return math.ceil(seconds * CENTS_AN_HOUR / 3600)
