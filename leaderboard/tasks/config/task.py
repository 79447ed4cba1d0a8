"""The configuration of a whole task.toml."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from crowd.hit_templates.form import CODE, CONVERSATION, MARKDOWN, PLAIN
from leaderboard.tasks.config.human import (
    FORM,
    NEGATIVE,
    POSITIVE,
    REFERENCES,
    ComparisonConfig,
    HumanConfig,
    JointConfig,
    NoisyBelow,
    TestCriteria,
)
from leaderboard.tasks.config.human import (
    PLAIN as PLAIN_MEAN,
)
from leaderboard.tasks.config.kinds import (
    Kind,
    Place,
    Problem,
    any_value,
    free_table,
    names,
    one_of,
    read_table,
    setting,
    table_of,
    text,
    truth,
    unknown_key,
    whole,
)

# The table [metrics]: the automatic metrics of a task and their parameters.
_PARAMETERS = free_table("parameters", any_value())


@dataclass(frozen=True)
class MetricsConfig:
    use: Sequence[str] = setting(names("metrics"))
    # the first column of the board; empty: all metrics in their order
    headline: Sequence[str] = setting(names("metrics"), ())
    # slug -> keyword arguments of the metric: the tables [metrics.<slug>]
    parameters: Mapping[str, Mapping[str, object]] = setting(
        free_table("metrics", _PARAMETERS), {}
    )


_LISTS = ("use", "headline")


def read_metrics(value: object, place: Place) -> MetricsConfig:
    """Read the table [metrics]; problems are added to `place`."""
    if not isinstance(value, Mapping):
        return read_table(MetricsConfig, value, place)
    parameters: dict[str, Mapping[str, object]] = {}
    for name, table in value.items():
        if name in _LISTS:
            continue
        if not isinstance(table, Mapping):
            place.below(name).wrong(unknown_key(name, _LISTS))
            continue
        parameters[name] = _PARAMETERS.read(table, place.below(name)) or {}
    lists = {name: value[name] for name in _LISTS if name in value}
    config = read_table(MetricsConfig, lists, place)
    for name in config.headline:
        if name not in config.use:
            place.below("headline").wrong(f"names {name!r}, which `use` does not name.")
    return replace(
        config,
        headline=config.headline if "headline" in value else config.use,
        parameters=parameters,
    )


METRICS = Kind("a table", read_metrics, MetricsConfig())


T = TypeVar("T")
# A published method -> the settings that it allows in [human], the usual one first.
METHODS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "": {},
    # Khashabi et al., EMNLP 2022, sections 4 to 6
    "genie-2022": {
        "scale": ("likert-5", "preference-5"),
        "ratings_per_instance": (1,),
        "positive_share": (0.05,),
        "negative_share": (0.05,),
        "test_questions": (REFERENCES,),
        "noisy_below": (NoisyBelow(),),
        "anchor_share": (0.0,),
        "double_share": (0.0,),
        "estimate": (PLAIN_MEAN,),
    },
}
FORMATS = (PLAIN, MARKDOWN, CODE, CONVERSATION)


@dataclass(frozen=True)
class ReleaseConfig:
    """The layout of the official release."""

    reader: str = setting(text(filled=True))
    # options of the reader
    options: Mapping[str, object] = setting(free_table("options", any_value()), {})
    hidden_references: bool = setting(truth(), False)


@dataclass(frozen=True)
class SourceConfig:
    """The field that a prediction could have been copied from; empty: none."""

    field: str = setting(text(), "")


@dataclass(frozen=True)
class QuotaConfig:
    """Number of submissions per team within so many days; 0: unlimited."""

    submissions: int = setting(whole(0), 3)
    days: int = setting(whole(1), 7)


@dataclass(frozen=True)
class BudgetConfig:
    """Spending limit of all campaigns of the task, in cents; 0: set by staff."""

    cents: int = setting(whole(0), 0)


@dataclass(frozen=True)
class JudgesConfig:
    """The use of licensed judges: shown beside people's scores, or ranking."""

    show: bool = setting(truth(), True)
    rank: bool = setting(truth(), False)


@dataclass(frozen=True)
class About:
    """The keys above the first table."""

    slug: str = setting(text(100, filled=True))
    title: str = setting(text(100, filled=True))
    kind: str = setting(text(50, filled=True))
    demo: bool = setting(truth(), False)
    summary: str = setting(text(300), "")
    description: str = setting(text(), "")
    licence: str = setting(text(200), "")
    homepage: str = setting(text(200), "")
    citation: str = setting(text(), "")
    source_language: str = setting(text(16, filled=True), "en")
    target_language: str = setting(text(16, filled=True), "en")
    method: str = setting(one_of(METHODS, ""), "")
    # slug of the task that this one is a new version of
    version_of: str = setting(text(100), "")
    # how outputs and references are displayed
    output_format: str = setting(one_of(FORMATS, PLAIN), PLAIN)


def _later(empty: T) -> Kind[T]:
    """Create a kind that skips a table, because it can be read only after [human]."""
    return Kind("a table", lambda _value, _place: None, empty)


@dataclass(frozen=True)
class TaskConfig(About):
    """A task.toml with every default filled in."""

    release: ReleaseConfig = setting(table_of(ReleaseConfig))
    # field of an instance -> the label that people read, in order
    fields: Mapping[str, str] = setting(free_table("labels", text(filled=True)))
    # field -> how it is displayed, if it is not plain text
    formats: Mapping[str, str] = setting(
        free_table("formats", one_of(FORMATS, PLAIN)), {}
    )
    source: SourceConfig = setting(table_of(SourceConfig), SourceConfig())
    metrics: MetricsConfig = setting(METRICS)
    human: HumanConfig = setting(table_of(HumanConfig))
    comparison: ComparisonConfig = setting(
        _later(ComparisonConfig()), ComparisonConfig()
    )
    joint: JointConfig = setting(_later(JointConfig()), JointConfig())
    quota: QuotaConfig = setting(table_of(QuotaConfig), QuotaConfig())
    budget: BudgetConfig = setting(table_of(BudgetConfig), BudgetConfig())
    judges: JudgesConfig = setting(table_of(JudgesConfig), JudgesConfig())

    @property
    def detector(self) -> str:
        """Detector of unreliable workers that the method names; empty: the site's."""
        return "class-learned-2" if self.method else ""

    @property
    def page_by(self) -> str:
        """Field with the document of an instance; empty if pages mix inputs."""
        tables = (self.human, self.comparison, self.joint)
        return next((table.page_by for table in tables if table.page_by), "")


# Read the parsed task.toml into its configuration, with all of its problems.
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
            f"names {config.source.field!r}, which is not one of the fields."
        )
    for name in config.formats:
        if name not in config.fields:
            top.below(f"formats.{name}").wrong(f"{name!r} is not one of the fields.")
    human = config.human
    if not _says(document.get("human"), "show_reference"):
        # workers who do not know the source language compare with a reference
        human = replace(human, show_reference=config.kind == TRANSLATION)
    human = _as_published(config.method, human, document.get("human"), top)
    if "human" in document:
        human = _complete_criteria(human, templates, top.below("human"))

    def below(name: str, table: type[H]) -> H:
        value, place = document.get(name, {}), top.below(name)
        table_config = read_table(table, value, place, inherits=human)
        return _complete_criteria(table_config, templates, place)

    complete = replace(
        config,
        human=human,
        comparison=below("comparison", ComparisonConfig),
        joint=below("joint", JointConfig),
    )
    return ReadTask(complete, top.problems)


def _as_published(
    method: str, human: HumanConfig, table: object, top: Place
) -> HumanConfig:
    """Return the settings of a published method; other settings are problems."""
    changes: dict[str, Any] = {}
    for name, allowed in METHODS[method].items():
        if _says(table, name) and getattr(human, name) in allowed:
            continue
        changes[name] = allowed[0]
        if _says(table, name):
            top.below(f"human.{name}").wrong(
                f'contradicts method = "{method}"; leave out one of them.'
            )
    return replace(human, **changes)


def _says(table: object, name: str) -> bool:
    return isinstance(table, Mapping) and name in table


def _complete_criteria(human: H, templates: Mapping[str, Template], place: Place) -> H:
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
