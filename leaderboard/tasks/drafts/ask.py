"""The questions of a draft: by default as the words of the first question suggest."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crowd.scales.base import all_scales
from leaderboard.designs.base import Design, all_designs

OVERALL = "overall"
# The design of questions that are statements.
DEFAULT = "direct-assessment"
# Of adults who read English silently: Brysbaert, How many words do we read per minute?,
# Journal of Memory and Language 109, 2019 (238 a minute).
WORDS_A_SECOND = 238 / 60
# Seconds to decide on a criterion and to find the next text.
_SECONDS_A_CRITERION, _SECONDS_A_PAGE = 4, 2
CENTS_AN_HOUR = 1_500


# The papers' four tasks: HIT templates of the same names have published statements.
KINDS = ("question-answering", "summarization", "abductive-commonsense", "translation")
_WHICH = re.compile(r"\s*(?:which|what|who)\b", re.IGNORECASE)
_HOW = re.compile(r"\s*(?:how|rate|to what)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Ask:
    """The questions about outputs, the people who answer them, and how often.

    Parameters
    ----------
    criteria : mapping
        Criterion to its question; the first ranks. Empty: the statement of `kind`.
    design : str
        One of `offered_designs`; empty: by the words of the first question.
    kind, summary : str
        `kind` is free; those in `KINDS` have their page and statement.
    source_language, target_language : str
        Empty: guessed from the texts.
    volunteers : bool
        Unpaid people with a link: each may do everything, and there are no hidden test
        questions.
    n_items, ratings : int
        How many inputs are rated (0: all, at most 300), and how often each.
    reward_cents : int, optional
        None: by reading time and 15 dollars an hour; nothing for volunteers.
    qualification : mapping, optional
        The test that workers pass first, as [human.qualification_test] has it.
    seconds : int, optional
        For one page, as a pilot measured it; None: by reading time.
    tests_percent : int, optional
        Of each polarity; None: 5 if there are references and people are paid.
    blind : sequence of str
        Criteria that are rated without the input.
    instructions : str
        Markdown.
    consent : str
        Markdown; empty: the site's default.
    version_of : str
        The slug of the task that this is a new version of.
    template : str
        The HIT template; empty: by `kind` and `design`.
    metrics : sequence of str
        Empty: light ones, if there are references.
    items_per_page : int
        How many outputs, or pairs, one page of this site shows.
    together : bool
        Whether magnitudes of all criteria are asked on one page (RankME's setup 1).
    by_document : bool
        Whether a page has parts of one document only, by ids such as `news-12.3`.
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
    allow_tie: bool = False
    together: bool = False
    source_language: str = ""
    target_language: str = ""
    hidden_references: bool = False
    version_of: str = ""
    template: str = ""
    metrics: Sequence[str] = ()
    items_per_page: int = 1
    by_document: bool = False

    @property
    def way(self) -> type[Design]:
        """The chosen design, or the one that the first question suggests."""
        question = next(iter(self.criteria.values()), "")
        suggested = "slider" if _HOW.match(question) else DEFAULT
        suggested = "two-choice" if _WHICH.match(question) else suggested
        designs = offered_designs()
        return designs.get(self.design, designs[suggested])

    @property
    def page(self) -> str:
        """The HIT template: as named, or that of `kind` or of the design."""
        usual = self.way.hit_template
        own = self.kind in KINDS and usual == Design.hit_template
        return self.template or (self.kind if own else usual)


def offered_designs() -> dict[str, type[Design]]:
    """Return the designs of drafts: all but those on scales of imported ratings."""
    return {
        slug: design
        for slug, design in all_designs().items()
        if {*design.scales[:1]} & all_scales().keys()
    }


def seconds_for(texts: Sequence[str], n_criteria: int) -> int:
    """Estimate the seconds per page by reading speed, until a pilot has measured them.

    Examples
    --------
    >>> seconds_for(["word " * 238], 1)
    66
    """
    n_words = sum(len(text.split()) for text in texts)
    answering = _SECONDS_A_PAGE + _SECONDS_A_CRITERION * n_criteria
    return math.ceil(n_words / WORDS_A_SECOND + answering)


def fair_cents(seconds: float) -> int:
    """Return the reward in cents, rounded up, that pays 15 dollars an hour.

    Examples
    --------
    >>> fair_cents(12), fair_cents(13)
    (5, 6)
    """
    return math.ceil(seconds * CENTS_AN_HOUR / 3600)
