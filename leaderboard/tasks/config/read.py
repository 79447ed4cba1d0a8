"""From what stands in a task.toml to its configuration, and all that is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from leaderboard.tasks.config.human import (
    NEGATIVE,
    POSITIVE,
    ComparisonConfig,
    HumanConfig,
    JointConfig,
    TestCriteria,
)
from leaderboard.tasks.config.kinds import Place, Problem
from leaderboard.tasks.config.marked import FORM
from leaderboard.tasks.config.tables import read_table
from leaderboard.tasks.config.task import TaskConfig

H = TypeVar("H", bound=HumanConfig)
TRANSLATION = "translation"


class Template(Protocol):
    """What an HIT template brings along where a task does not say it."""

    @property
    def questions(self) -> Mapping[str, str]: ...

    @property
    def test_criteria(self) -> Mapping[str, Sequence[str]]: ...


@dataclass(frozen=True)
class ReadTask:
    """A configuration, and what is wrong with the document it was read from."""

    config: TaskConfig
    problems: Sequence[Problem]


def read_task(
    document: Mapping[str, object], templates: Mapping[str, Template]
) -> ReadTask:
    """Read a task.toml: everything that is wrong with it at once.

    Parameters
    ----------
    document : mapping
        As TOML or JSON was parsed.
    templates : mapping
        The site's HIT templates by slug: they bring questions along.

    Returns
    -------
    ReadTask
        A value that cannot be used is as if it had been left out, and what has to be
        given and is not is empty.
    """
    top = Place("", [])
    config = read_table(TaskConfig, document, top)
    if config.source.field not in {"", *config.fields}:
        top.below("source.field").wrong(
            f"names {config.source.field!r}, which is none of the fields."
        )
    for name in config.formats:
        if name not in config.fields:
            top.below(f"formats.{name}").wrong(f"{name!r} is none of the fields.")
    human = config.human
    if not _says(document.get("human"), "show_reference"):
        # a worker who does not know the source language compares with a reference
        human = replace(human, show_reference=config.kind == TRANSLATION)
    if "human" in document:
        human = _completed(human, templates, top.below("human"))

    def below(name: str, table: type[H]) -> H:
        value, place = document.get(name, {}), top.below(name)
        table_config = read_table(table, value, place, inherits=human)
        return _completed(table_config, templates, place)

    complete = replace(
        config,
        human=human,
        comparison=below("comparison", ComparisonConfig),
        joint=below("joint", JointConfig),
    )
    return ReadTask(complete, top.problems)


def _says(table: object, name: str) -> bool:
    return isinstance(table, Mapping) and name in table


def _completed(human: H, templates: Mapping[str, Template], place: Place) -> H:
    """Take over from the HIT template what the table does not say of its questions."""
    template = templates.get(human.hit_template)
    if template is None:  # who loads a task is told which ones there are
        return human
    criteria = human.criteria or dict(template.questions)
    if not criteria:
        place.below("criteria").wrong("is missing; name a criterion and its question.")
    marks = human.test_criteria
    if (
        marks is None
        and template.test_criteria
        and {*criteria} <= {*template.questions}
    ):
        marks = TestCriteria(
            tuple(template.test_criteria.get(POSITIVE, ())),
            tuple(template.test_criteria.get(NEGATIVE, ())),
            tuple(template.test_criteria.get(FORM, ())),
        ).within(criteria)
    return replace(human, criteria=criteria, test_criteria=marks)
