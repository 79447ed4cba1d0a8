"""A task's requirements for workers, and whether its platform can check them."""

from dataclasses import asdict

from crowd.elsewhere.services import accounts
from crowd.platforms.demands import StudyTerms
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_requirements import check_platform, of_pool
from crowd.workers.services import requirements as require
from genie.lib.errors import GenieError
from leaderboard.tasks.config import HumanConfig


def check(human: HumanConfig, pool: str = "") -> None:
    """Refuse requirements that would fail when the first campaign starts.

    Raises ``bad-requirements`` or ``requirement-not-checked``.
    """
    # [human.study] applies to the platform in [human]
    study = study_of(human) if type(human) is HumanConfig else None
    check_platform(human.platform, _required(human, pool), study)


def check_test(human: HumanConfig) -> None:
    """Refuse a required test that the site does not have, before money is reserved."""
    test, published = human.qualification_test, QualificationTest.State.PUBLISHED
    if test is None or not test.name:
        return
    if not QualificationTest.objects.filter(name=test.name, state=published).exists():
        raise GenieError(
            f"There is no qualification test {test.name!r} in use.", code="no-such-test"
        )


def ask_platform(human: HumanConfig, pool: str) -> None:
    """Check with the platform, before money is reserved, whether it could run this."""
    accounts.check(human.platform, _required(human, pool), study_of(human))


def _required(human: HumanConfig, pool: str) -> list[Requirement]:
    requirements = require.read(stated(human))
    if human.qualification_test is not None:
        requirements.append(
            Requirement(kind=Requirement.Kind.TEST, test_name="test of this task")
        )
    return [*(of_pool(pool) if pool else []), *requirements]


def study_of(human: HumanConfig) -> StudyTerms:
    return StudyTerms(**asdict(human.study))


def stated(human: HumanConfig) -> require.Wanted:
    return require.Wanted(**asdict(human.requirements))
