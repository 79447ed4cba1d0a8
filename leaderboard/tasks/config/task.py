"""The configuration of a whole task.toml."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from crowd.hit_templates.form import CODE, CONVERSATION, MARKDOWN, PLAIN
from leaderboard.tasks.config.human import ComparisonConfig, HumanConfig, JointConfig
from leaderboard.tasks.config.kinds import (
    Kind,
    anything,
    mapping,
    one_of,
    text,
    truth,
    whole,
)
from leaderboard.tasks.config.metrics import METRICS, MetricsConfig
from leaderboard.tasks.config.tables import setting, table_of

T = TypeVar("T")
FORMATS = (PLAIN, MARKDOWN, CODE, CONVERSATION)


@dataclass(frozen=True)
class ReleaseConfig:
    """The layout of the official release."""

    reader: str = setting(text(filled=True))
    # options of the reader
    options: Mapping[str, object] = setting(mapping("options", anything()), {})
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
    fields: Mapping[str, str] = setting(mapping("labels", text(filled=True)))
    # field -> how it is displayed, if it is not plain text
    formats: Mapping[str, str] = setting(mapping("formats", one_of(FORMATS, PLAIN)), {})
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
    def page_by(self) -> str:
        """Field with the document of an instance; empty if pages mix inputs."""
        tables = (self.human, self.comparison, self.joint)
        return next((table.page_by for table in tables if table.page_by), "")
