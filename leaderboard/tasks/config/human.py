"""The tables [human], [comparison] and [joint]: how people are asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crowd.hit_templates.form import MOST_ON_A_PAGE, read_errors
from crowd.pricing import Quote, fee_per_assignment, quote
from genie.lib.errors import GenieError
from leaderboard.designs.several_outputs import RankME, TwoChoice
from leaderboard.stats.stopping.sequential import RULES, SignFlips
from leaderboard.stats.systems.estimates import Population
from leaderboard.tasks.config.kinds import (
    Kind,
    Place,
    Problem,
    free_table,
    names,
    one_of,
    read_table,
    setting,
    share,
    table_of,
    text,
    truth,
    whole,
)


# The table [human.errors]: the errors that people mark.
def _errors(value: object, place: Place) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping):
        place.wrong(f"must be a table, not {value!r}.")
        return None
    try:
        read_errors(value)
    except GenieError as error:
        place.wrong(error.message.partition(": ")[2])
        return None
    return dict(value)


ERRORS: Kind[Mapping[str, Any]] = Kind("a table of errors to mark", _errors, {})


# The platform with studies, in which a visit can end before the work is done.
PROLIFIC = "prolific"
POSITIVE, NEGATIVE = "positive", "negative"
# The value of the reference output in magnitude estimation.
STANDARD_VALUE = 100
SEPARATE = 2
# The kinds of wrong texts in test questions.
EDITED, REFERENCES = "edited", "references"
# The estimates of a system's quality that can rank the board.
ADJUSTED, PLAIN, Z_SCORES = "adjusted", "plain", "z"
ESTIMATES = (ADJUSTED, PLAIN, Z_SCORES)
# The raters that results are about: those who rated, or raters like them.
RATERS = tuple(one.value for one in Population)
# Facts that workers read with what they agree to; the first three are required.
REQUIRED = ("institution", "contact", "approval")
STUDY = (*REQUIRED, "data_kept", "withdrawal", "debriefing")
# How a board is ranked: by simultaneous comparisons, or as in WMT's findings.
SIMULTANEOUS, RANK_SUMS = "simultaneous", "rank-sums"
# The default limit on one worker's share of a campaign in crowds of ten and more.
SHARE = 0.2


@dataclass(frozen=True)
class TestCriteria:
    """The criteria on which test questions are marked.

    `negative` has those on which wrong content is bad, `form` those on which broken
    grammar or word order is bad.
    """

    __test__ = False  # pytest collects classes named Test

    positive: Sequence[str] = setting(names("criteria"), ())
    negative: Sequence[str] = setting(names("criteria"), ())
    form: Sequence[str] = setting(names("criteria"), ())

    def within(self, criteria: Mapping[str, str]) -> TestCriteria:
        return TestCriteria(
            tuple(name for name in self.positive if name in criteria),
            tuple(name for name in self.negative if name in criteria),
            tuple(name for name in self.form if name in criteria),
        )


@dataclass(frozen=True)
class NoisyBelow:
    """The share of right answers below which a worker is noisy; None: the site's."""

    positive: float | None = setting(share(open_ends=True), None)
    negative: float | None = setting(share(open_ends=True), None)

    def shares(self, site: float) -> dict[str, float]:
        """Return the shares by polarity, with the site's share for missing ones."""
        return {
            "POSITIVE": site if self.positive is None else self.positive,
            "NEGATIVE": site if self.negative is None else self.negative,
        }


@dataclass(frozen=True)
class QualificationConfig:
    """The test that workers pass first.

    `n` questions are drawn; None: the number in `crowd`. A `name` selects an existing
    test of the site, and no questions are drawn.
    """

    n: int = setting(whole(2), 8)
    n_asked: int | None = setting(whole(0), None)
    pass_percent: int | None = setting(whole(1, 100), None)
    n_tries: int | None = setting(whole(1, 20), None)
    wait_hours: int | None = setting(whole(0), None)
    valid_days: int | None = setting(whole(0), None)
    name: str = setting(text(100), "")

    def rules(self) -> dict[str, int]:
        """Return the task's pass rules; the test has defaults for missing ones."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in {"n", "name"} and value is not None
        }


@dataclass(frozen=True)
class RequirementsConfig:
    """Requirements for workers; None: no requirement of that kind."""

    approved: int | None = setting(whole(0), None)
    approved_percent: int | None = setting(whole(0, 100), None)
    countries: Sequence[str] | None = setting(names("countries"), None)
    languages: Sequence[str] | None = setting(names("languages"), None)


@dataclass(frozen=True)
class StudyConfig:
    """Settings of a study on another platform; see crowd/platforms/base.py."""

    groups: Sequence[str] = setting(names("groups"), ())
    without_groups: Sequence[str] = setting(names("groups"), ())
    ai_taskers: bool = setting(truth(), False)
    visits: int = setting(whole(1, 100), 1)
    content_warning: str = setting(one_of(("", "sensitive", "explicit"), ""), "")
    content_warning_details: str = setting(text(300), "")
    screen_out_cents: int = setting(whole(0), 0)
    screen_out_places: int = setting(whole(0), 0)
    quotas: Mapping[str, int] = setting(free_table("quotas", whole(1)), {})
    early_percent: int = setting(whole(0, 100), 10)


@dataclass(frozen=True)
class LanguageConfig:
    """Texts for workers in another language; empty ones come from the HIT template."""

    title: str = setting(text(128), "")
    # criterion -> question; the HIT template has it if the task uses its questions
    questions: Mapping[str, str] = setting(
        free_table("criteria", text(filled=True)), {}
    )
    # input label, as in [fields] -> translation
    labels: Mapping[str, str] = setting(free_table("labels", text(filled=True)), {})
    instructions: str = setting(text(), "")
    consent: str = setting(text(), "")

    def filled_texts(self, criteria: Mapping[str, str]) -> dict[str, object]:
        """Return the texts that are not empty, for these criteria."""
        questions = {c: q for c, q in self.questions.items() if c in criteria}
        said = {**asdict(self), "questions": questions}
        return {name: value for name, value in said.items() if value}


def _noisy_below(value: object, place: Place) -> NoisyBelow | None:
    if isinstance(value, Mapping):
        return read_table(NoisyBelow, value, place)
    both = share(open_ends=True).read(value, place)
    return None if both is None else NoisyBelow(both, both)


def _qualification(value: object, place: Place) -> QualificationConfig | None:
    if value is True:
        return QualificationConfig()
    return read_table(QualificationConfig, value, place) if value else None


_SHARE_OR_TABLE = Kind("a share of right answers", _noisy_below, NoisyBelow())
_TRUE_OR_TABLE: Kind[QualificationConfig | None] = Kind(
    "true or a table", _qualification, None
)


@dataclass(frozen=True)
class HumanConfig:
    """How people are asked about outputs: [human] of task.toml."""

    platform: str = setting(text(filled=True), "selfhosted")
    design: str = setting(text(filled=True), per_table=True)
    scale: str = setting(text(filled=True), per_table=True)
    hit_template: str = setting(text(filled=True), per_table=True)
    sample_size: int = setting(whole(1), human_only=True)
    ratings_per_instance: int = setting(whole(1), 1, human_only=True)
    workers: int | None = setting(whole(1), None)
    worker_percent: int | None = setting(whole(1, 100), None)
    reward_cents: int = setting(whole(0))
    expected_seconds: int = setting(whole(0), 0)
    assignment_minutes: int = setting(whole(1), 30)
    positive_share: float = setting(share(), 0.05)
    negative_share: float = setting(share(), 0.05)
    noisy_below: NoisyBelow = setting(_SHARE_OR_TABLE, NoisyBelow(), human_only=True)
    repost_share: float = setting(share(), 0.1)
    # items of a campaign with test questions that two people rate, tests among them
    double_share: float = setting(share(), 0.1, human_only=True)
    # how many outputs of a settled system are added to a sample, and by how many
    # points a crowd may rate them differently before the board reports it
    anchor_share: float = setting(share(), 0.05, human_only=True)
    anchor_tolerance: int = setting(whole(0, 100), 5, human_only=True)
    # whether comparisons are estimated as if each system had been on both sides
    correct_side: bool = setting(truth(), False)
    exposure: str = setting(one_of(("task", "campaign"), "task"), "task")
    # the estimate used as score: adjusted for raters, raw means, or z-scores by worker
    estimate: str = setting(one_of(ESTIMATES, ADJUSTED), ADJUSTED)
    ranks: str = setting(
        one_of((SIMULTANEOUS, RANK_SUMS), SIMULTANEOUS), SIMULTANEOUS, human_only=True
    )
    # the population of raters; None: not declared, which means raters like these
    raters: str | None = setting(
        one_of(RATERS, Population.LIKE.value), None, human_only=True
    )
    qualification_test: QualificationConfig | None = setting(
        _TRUE_OR_TABLE, None, human_only=True
    )
    requirements: RequirementsConfig = setting(
        table_of(RequirementsConfig), RequirementsConfig(), human_only=True
    )
    study: StudyConfig = setting(table_of(StudyConfig), StudyConfig(), human_only=True)
    # content of test questions: outputs, the wrong ones with a minimal edit; or references,
    # the wrong ones those of other instances (Genie, section 5)
    test_questions: str = setting(one_of((EDITED, REFERENCES), EDITED), EDITED)
    show_reference: bool = setting(truth(), False)
    standard_value: int = setting(whole(1), STANDARD_VALUE)
    # Markdown that workers read before they begin; empty: the HIT template's text
    instructions: str = setting(text(), "", per_table=True)
    # Markdown that workers agree to; empty: the HIT template's text, or the site's
    consent: str = setting(text(), "")
    # who asks, which workers read below it; REQUIRED of paid work on other platforms
    institution: str = setting(text(300), "", human_only=True)
    contact: str = setting(text(300), "", human_only=True)
    # the number of the ethics board's approval, or why there is none
    approval: str = setting(text(300), "", human_only=True)
    data_kept: str = setting(text(500), "", human_only=True)
    withdrawal: str = setting(text(500), "", human_only=True)
    # what workers read when their work is done
    debriefing: str = setting(text(2_000), "", human_only=True)
    # the language of all these texts, and their translations
    language: str = setting(text(16, filled=True), "en")
    languages: Mapping[str, LanguageConfig] = setting(
        free_table("languages", table_of(LanguageConfig)), {}, per_table=True
    )
    # how the questions are asked; 2: a campaign for each criterion
    setup: int = setting(one_of((1, SEPARATE), 1), 1, per_table=True)
    show_input: Mapping[str, bool] = setting(
        free_table("criteria", truth()), {}, per_table=True
    )
    before_text: Sequence[str] = setting(names("criteria"), (), per_table=True)
    checkboxes: Sequence[str] = setting(names("checkboxes"), (), per_table=True)
    allow_tie: bool = setting(truth(), False, per_table=True)
    # a field on the page that only programs find
    canary: bool = setting(truth(), False, per_table=True)
    # how long workers can undo an answer
    undo_seconds: int = setting(whole(0, 60), 10)
    # HITs per page; of one document, which a field contains, or with `id` the prefix of
    # the instances' ids
    items_per_page: int = setting(whole(1, MOST_ON_A_PAGE), 1, per_table=True)
    page_by: str = setting(text(100), "", per_table=True)
    # the errors to mark and their weights; empty: those of the HIT template
    errors: Mapping[str, object] = setting(ERRORS, {}, per_table=True)
    # criterion -> question; the first one ranks
    criteria: Mapping[str, str] = setting(
        free_table("criteria", text(filled=True)), {}, per_table=True
    )
    # the metric that workers' answers are compared with, as evidence for staff
    judge: str = setting(text(100), "", human_only=True)
    test_criteria: TestCriteria | None = setting(
        table_of(TestCriteria), None, per_table=True
    )

    def separate(self) -> list[dict[str, str]]:
        """Return the criteria of each campaign: of one, or of one each (setup 2)."""
        if self.setup != SEPARATE:
            return [dict(self.criteria)]
        return [{name: question} for name, question in self.criteria.items()]

    def form(self, criteria: Mapping[str, str]) -> dict[str, object]:
        """Return how these criteria are asked, without default values."""
        form: dict[str, object] = {
            name: value
            for name, value in (
                ("instructions", self.instructions),
                ("consent", self.consent),
                ("language", self.language),
                (
                    "languages",
                    {
                        name: words.filled_texts(criteria)
                        for name, words in self.languages.items()
                    },
                ),
                ("setup", self.setup),
                ("before_text", [c for c in self.before_text if c in criteria]),
                ("checkboxes", list(self.checkboxes)),
                ("allow_tie", self.allow_tie),
                ("canary", self.canary),
                ("undo_seconds", self.undo_seconds),
                ("items_per_page", self.items_per_page),
                ("page_by", self.page_by),
                ("errors", self.errors),
                ("expected_seconds", self.expected_seconds),
                (
                    "show_input",
                    {c: s for c, s in self.show_input.items() if c in criteria},
                ),
            )
            if getattr(self, name) != getattr(_USUAL, name)
        }
        if study := {name: said for name in STUDY if (said := getattr(self, name))}:
            form["study"] = study
        return form

    def judged_blind(self, criteria: Mapping[str, str]) -> bool:
        return not any(self.show_input.get(criterion, True) for criterion in criteria)

    @property
    def population(self) -> Population:
        return Population(self.raters or Population.LIKE)

    @property
    def n_workers_wanted(self) -> int:
        """Number of workers wanted; by default each does half of `share_of_one`."""
        enough = 1 if self.share_of_one == 1 else math.ceil(2 / self.share_of_one)
        return max(self.workers or enough, self.ratings_per_instance)

    @property
    def tests_inside_sample(self) -> bool:
        """Whether workers suffice to test some on instances that others rate."""
        return self.n_workers_wanted >= 2 * self.ratings_per_instance

    @property
    def share_of_one(self) -> float:
        """Greatest share of a campaign that one worker may do.

        By default twice an equal part among the workers wanted, and at least `SHARE`.
        """
        if self.worker_percent is not None:
            return self.worker_percent / 100
        equal = 0.0 if self.workers is None else 1 / self.workers
        return min(1.0, max(SHARE, 2 * equal))

    @property
    def share_follows_crowd(self) -> bool:
        """Whether each worker may do more if few come: no crowd size is required."""
        return self.workers is None and self.worker_percent is None

    def n_test_questions(self, n_items: int) -> tuple[int, int]:
        """Return the numbers of positive and negative questions for so many items."""
        positive, negative = (
            0 if share == 0 else max(1, round(share * n_items))
            for share in (self.positive_share, self.negative_share)
        )
        return positive, negative

    def n_twice(self, n_all: int, ratings_per_item: int) -> int:
        """Return how many of all items get a second answer: none if each has several."""
        hidden = self.positive_share or self.negative_share
        return (
            round(self.double_share * n_all) if hidden and ratings_per_item == 1 else 0
        )

    def n_anchor_items(self, n_items: int) -> int:
        """Return the number of outputs of a settled system for so many items."""
        return max(1, round(self.anchor_share * n_items)) if self.anchor_share else 0

    def price(
        self,
        *,
        n_items: int,
        n_test_questions: int,
        ratings_per_item: int,
        n_anchor_items: int = 0,
    ) -> Quote:
        n_all = n_items + n_test_questions + n_anchor_items
        n_twice = self.n_twice(n_all, ratings_per_item)
        priced = quote(
            platform=self.platform,
            reward_cents=self.reward_cents,
            n_items=n_items,
            n_test_questions=n_test_questions,
            n_anchor_items=n_anchor_items,
            n_twice=n_twice,
            ratings_per_item=ratings_per_item,
            repost_share=self.repost_share,
            max_assignments=ratings_per_item,
        )
        if self.platform != PROLIFIC:
            return priced
        n_all = n_all * ratings_per_item + n_twice
        n_early = -(-n_all * self.study.early_percent // 100)
        unit = self.reward_cents + fee_per_assignment(PROLIFIC, self.reward_cents)
        priced = priced.with_reserve("Visits that end early, at most", n_early, unit)
        if not self.study.screen_out_places:
            return priced
        unit = self.study.screen_out_cents
        unit += fee_per_assignment(PROLIFIC, unit)
        n = self.study.screen_out_places
        return priced.with_reserve("People screened out, at most", n, unit)


_USUAL = HumanConfig()


@dataclass(frozen=True)
class ComparisonConfig(HumanConfig):
    """Settings of comparisons of two systems that differ from [human]."""

    design: str = setting(text(filled=True), TwoChoice.slug, per_table=True)
    scale: str = setting(text(filled=True), TwoChoice.scales[0], per_table=True)
    hit_template: str = setting(
        text(filled=True), TwoChoice.hit_template, per_table=True
    )
    # pairs that are sent out together
    wave_size: int = setting(whole(1, 1_000), 20, per_table=True)
    # the stopping rule; several answers a pair have one of labels
    rule: str = setting(
        one_of((*RULES,), SignFlips.name), SignFlips.name, per_table=True
    )

    def n_twice(self, n_all: int, ratings_per_item: int) -> int:
        """Return 0: the labeling strategy decides how many people answer a pair."""
        return 0

    def n_tests_among(self, n_pairs: int) -> int:
        return round((self.positive_share + self.negative_share) * n_pairs)


@dataclass(frozen=True)
class JointConfig(HumanConfig):
    """Settings of joint evaluations of several systems that differ from [human]."""

    design: str = setting(text(filled=True), RankME.slug, per_table=True)
    scale: str = setting(text(filled=True), RankME.scales[0], per_table=True)
    hit_template: str = setting(text(filled=True), RankME.hit_template, per_table=True)


# The criteria on which test questions are marked.
#
# Another instance's reference is off topic but still fluent: it is wrong on relevance and
# right on fluency. If a task asks several criteria, `test_criteria` in task.toml lists
# those that can be marked: `positive` (a good text is good), `negative` (wrong content is
# bad: a changed fact, another instance's reference) and `form` (broken grammar is bad).
KEY, FORM = "test_criteria", "form"


def marked_criteria(
    human: HumanConfig, criteria: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the marked criteria of one campaign, as ``positive`` and ``negative``.

    A single criterion is marked on both. A campaign without a marked criterion has no
    test questions of that polarity. If workers do not see the input, negative questions
    have shuffled words, and are wrong on every criterion.

    Raises
    ------
    GenieError
        ``unmarkable`` if several are asked and the task does not list the marked ones.

    Examples
    --------
    >>> human = HumanConfig(criteria={"overall": "Is it good?"})
    >>> marked_criteria(human, human.criteria)
    {'positive': ['overall'], 'negative': ['overall']}
    """
    table = human.test_criteria
    if table is None and len(human.criteria) > 1:
        raise GenieError(
            f"In task.toml {missing_test_criteria(human)} Then load the task again.",
            code="unmarkable",
        )
    if table is None:
        return {POSITIVE: list(criteria), NEGATIVE: list(criteria)}
    positive = [name for name in criteria if name in table.positive]
    if human.judged_blind(criteria):
        return {POSITIVE: positive, NEGATIVE: list(criteria)}
    # Workers who have not read the input do not see that a reference is a different
    # one.
    unseen = {*human.before_text} | {
        name for name, shown in human.show_input.items() if not shown
    }
    wrong = [c for c in criteria if c in table.negative and c not in unseen]
    return {POSITIVE: positive, NEGATIVE: wrong}


def form_criteria(human: HumanConfig, criteria: Mapping[str, str]) -> list[str]:
    """Return the criteria of one campaign that ask about form, such as fluency.

    Examples
    --------
    >>> human = HumanConfig(criteria={"overall": "Is it good?"})
    >>> form_criteria(human, human.criteria)
    []
    """
    table = human.test_criteria
    return [name for name in criteria if table is not None and name in table.form]


def problems_of_test_criteria(
    table: str, human: HumanConfig, *, polarities: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of a table's `test_criteria`.

    `polarities` are those of the design's test questions: each question has one of
    them.

    Examples
    --------
    >>> human = HumanConfig(criteria={"true": "Is it true?", "clear": "Is it clear?"})
    >>> [found] = problems_of_test_criteria("human", human, polarities=[POSITIVE, NEGATIVE])
    >>> found.key, found.sentence[:41]
    ('human.test_criteria', 'there are several criteria (true, clear),')
    """
    marks = human.test_criteria
    if marks is None:
        if len(human.criteria) > 1:
            yield Problem(f"{table}.{KEY}", missing_test_criteria(human))
        return
    named = {POSITIVE: marks.positive, NEGATIVE: marks.negative, FORM: marks.form}
    unknown = [
        Problem(
            f"{table}.{KEY}.{kind}",
            f"names {name!r}, which is not one of the criteria.",
        )
        for kind, names in named.items()
        for name in names
        if name not in human.criteria
    ]
    yield from unknown
    # Problems that only follow from an unknown key are not reported.
    if unknown:
        return
    for polarity in polarities:
        marked = [
            marked_criteria(human, criteria)[polarity] for criteria in human.separate()
        ]
        if not any(marked) and _share(human, polarity, polarities):
            yield Problem(
                f"{table}.{KEY}.{polarity}",
                "names no criterion that can be scored: name one that is rated with "
                f"the input, or set {polarity}_share = 0.",
            )


def _share(human: HumanConfig, polarity: str, polarities: Sequence[str]) -> float:
    shares = {POSITIVE: human.positive_share, NEGATIVE: human.negative_share}
    return shares[polarity] if len(polarities) > 1 else sum(shares.values())


def missing_test_criteria(human: HumanConfig) -> str:
    """Return the problem of a task with several criteria and no `test_criteria`.

    Examples
    --------
    >>> missing_test_criteria(HumanConfig(criteria={"true": "Is it true?", "clear": "Is it?"}))[:40]
    'there are several criteria (true, clear)'
    """
    return (
        f"there are several criteria ({', '.join(human.criteria)}), and an answer to a "
        f"test question can be right on one and wrong on another: add {KEY} = {{ {POSITIVE} = [...], "
        f"{NEGATIVE} = [...] }} with the criteria on which a reference is good, and "
        "those on which another instance's reference is bad."
    )
