"""On which criteria test questions are marked.

Another instance's reference is off the point and still fluent: it is wrong on relevance
and right on fluency. Where several criteria are asked, `test_criteria` in task.toml says
which can be marked: `positive` where a good text is good, `negative` where wrong content is
bad (a changed fact, another instance's reference), `form` where broken grammar is.
"""

from collections.abc import Iterator, Mapping, Sequence

from genie.lib.errors import GenieError
from leaderboard.tasks.config.human import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.kinds import Problem

KEY, FORM = "test_criteria", "form"


def marked_criteria(
    human: HumanConfig, criteria: Mapping[str, str]
) -> dict[str, list[str]]:
    """Give the criteria of one campaign that are marked, by polarity.

    Where only one criterion is asked it is marked, on both. A campaign without a marked
    criterion has no test questions of that polarity. Where nobody sees the input, a
    negative question has its words shuffled, and is wrong whatever is asked.

    Parameters
    ----------
    criteria : mapping
        What the campaign asks.

    Returns
    -------
    dict
        ``positive`` and ``negative``, each with names of criteria.

    Raises
    ------
    GenieError
        ``unmarkable`` where several are asked and the task does not say which.

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
    # Workers who have not read the input cannot know that a reference is not its own.
    unseen = {*human.before_text} | {
        name for name, shown in human.show_input.items() if not shown
    }
    wrong = [c for c in criteria if c in table.negative and c not in unseen]
    return {POSITIVE: positive, NEGATIVE: wrong}


def form_criteria(human: HumanConfig, criteria: Mapping[str, str]) -> list[str]:
    """Give the criteria of one campaign that ask how a text is said.

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
    """Say what is wrong with a table's `test_criteria`.

    Parameters
    ----------
    table : str
        The table's name, for the problems' keys.
    polarities : sequence of str
        Which test questions the table's design has; all questions are of these.

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
    # Problems that only follow from an unknown name are not reported.
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
    """Give the share of questions that this polarity's criteria mark."""
    shares = {POSITIVE: human.positive_share, NEGATIVE: human.negative_share}
    return shares[polarity] if len(polarities) > 1 else sum(shares.values())


def missing(human: HumanConfig) -> str:
    """Say what to write where a task with several criteria does not say it.

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
