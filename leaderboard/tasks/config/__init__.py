"""The contents of a task.toml, read once into typed objects with every default.

`read_task` never fails: it returns the configuration and every problem of the document.
Loading refuses a task with problems. Drafts and stored rows are read as far as
possible: a value that cannot be used counts as left out.
"""

from leaderboard.tasks.config.human import (
    ADJUSTED,
    EDITED,
    NEGATIVE,
    PLAIN,
    POSITIVE,
    RANK_SUMS,
    RATERS,
    REFERENCES,
    SIMULTANEOUS,
    STANDARD_VALUE,
    Z_SCORES,
    ComparisonConfig,
    HumanConfig,
    JointConfig,
    LanguageConfig,
    NoisyBelow,
    QualificationConfig,
    RequirementsConfig,
    StudyConfig,
    TestCriteria,
)
from leaderboard.tasks.config.kinds import Problem
from leaderboard.tasks.config.task import (
    BudgetConfig,
    JudgesConfig,
    MetricsConfig,
    QuotaConfig,
    ReadTask,
    ReleaseConfig,
    TaskConfig,
    Template,
    read_metrics,
    read_task,
)

__all__ = [
    "ADJUSTED",
    "EDITED",
    "NEGATIVE",
    "PLAIN",
    "POSITIVE",
    "RANK_SUMS",
    "RATERS",
    "REFERENCES",
    "SIMULTANEOUS",
    "STANDARD_VALUE",
    "Z_SCORES",
    "BudgetConfig",
    "ComparisonConfig",
    "HumanConfig",
    "JointConfig",
    "JudgesConfig",
    "LanguageConfig",
    "MetricsConfig",
    "NoisyBelow",
    "Problem",
    "QualificationConfig",
    "QuotaConfig",
    "ReadTask",
    "ReleaseConfig",
    "RequirementsConfig",
    "StudyConfig",
    "TaskConfig",
    "Template",
    "TestCriteria",
    "read_metrics",
    "read_task",
]
