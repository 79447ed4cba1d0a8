"""What a task requires of its workers, and whether its platform can check that."""

from __future__ import annotations

from dataclasses import asdict

from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_requirements import check_platform, of_pool
from crowd.workers.services import requirements as require
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task


def check(human: HumanConfig) -> None:
    """Refuse a configuration that would fail when its first campaign starts.

    Raises
    ------
    GenieError
        ``bad-requirements`` or ``requirement-not-checked``.
    """
    check_platform(human.platform, required(human))


def check_platform_of(task: Task, human: HumanConfig) -> None:
    """Refuse what the platform cannot check, before money is set aside for it."""
    check_platform(human.platform, [*of_pool(task.slug), *required(human)])


def stated(human: HumanConfig) -> require.Wanted:
    """Give what a task states in its own table of requirements."""
    return require.Wanted(**asdict(human.requirements))


def required(human: HumanConfig) -> list[Requirement]:
    """Give all that a worker must meet: the table, and the task's qualification test."""
    requirements = require.read(stated(human))
    if human.qualification_test is not None:
        requirements.append(
            Requirement(kind=Requirement.Kind.TEST, test_name="test of this task")
        )
    return requirements
