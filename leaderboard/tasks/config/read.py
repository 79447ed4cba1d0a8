"""Read the parsed task.toml into its configuration, with all of its problems."""

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
    @property
    def questions(self) -> Mapping[str, str]: ...

    @property
    def test_criteria(self) -> Mapping[str, Sequence[str]]: ...


@dataclass(frozen=True)
class ReadTask:
    config: TaskConfig
    problems: Sequence[Problem]


def read_task(
    document: Mapping[str, object], templates: Mapping[str, Template]
) -> ReadTask:
    """Read a parsed task.toml and report all of its problems at once.

    `templates` are the site's HIT templates by slug; they have default questions. A
    value that cannot be used counts as left out; a required one that is missing is
    empty.
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
        # workers who do not know the source language compare with a reference
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
    template = templates.get(human.hit_template)
    if template is None:  # loading reports the known templates
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
