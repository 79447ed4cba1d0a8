"""The criteria on which test questions are marked.

Another instance's reference is off topic but still fluent: it is wrong on relevance and
right on fluency. If a task asks several criteria, `test_criteria` in task.toml lists
those that can be marked: `positive` (a good text is good), `negative` (wrong content is
bad: a changed fact, another instance's reference) and `form` (broken grammar is bad).
"""

from collections.abc import Iterator, Mapping, Sequence

from genie.lib.errors import GenieError
from leaderboard.tasks.config.human import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.kinds import Problem

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
            f"In task.toml {missing(human)} Then load the task again.",
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


def problems(
    table: str, human: HumanConfig, *, polarities: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of a table's `test_criteria`.

    `polarities` are those of the design's test questions: each question has one of
    them.

    Examples
    --------
    >>> human = HumanConfig(criteria={"true": "Is it true?", "clear": "Is it clear?"})
    >>> [found] = problems("human", human, polarities=[POSITIVE, NEGATIVE])
    >>> found.key, found.sentence[:41]
    ('human.test_criteria', 'there are several criteria (true, clear),')
    """
    marks = human.test_criteria
    if marks is None:
        if len(human.criteria) > 1:
            yield Problem(f"{table}.{KEY}", missing(human))
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


def missing(human: HumanConfig) -> str:
    """Return the problem of a task with several criteria and no `test_criteria`.

    Examples
    --------
    >>> missing(HumanConfig(criteria={"true": "Is it true?", "clear": "Is it?"}))[:40]
    'there are several criteria (true, clear)'
    """
    return (
        f"there are several criteria ({', '.join(human.criteria)}), and an answer to a "
        f"test question can be right on one and wrong on another: add {KEY} = {{ {POSITIVE} = [...], "
        f"{NEGATIVE} = [...] }} with the criteria on which a reference is good, and "
        "those on which another instance's reference is bad."
    )
