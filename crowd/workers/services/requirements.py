from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from crowd.hits.models import Campaign
from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_requirements import check_platform, of_pool
from genie.lib.errors import GenieError

Kind = Requirement.Kind


@dataclass(frozen=True)
class Wanted:
    """A task's requirements on workers in addition to a test; None: not required."""

    approved: int | None = None
    approved_percent: int | None = None
    countries: Sequence[str] | None = None
    # self-reported languages
    languages: Sequence[str] | None = None


def of_campaign(
    campaign: Campaign, config: Wanted, test_name: str = ""
) -> list[Requirement]:
    """Store a campaign's requirements, once; callers open the transaction.

    Raises
    ------
    GenieError
        ``bad-requirements``, or ``requirement-not-checked`` if the platform cannot
        filter by one.
    """
    requirements = read(config)
    if test_name:
        requirements.append(Requirement(kind=Kind.TEST, test_name=test_name))
    check_platform(campaign.platform, [*of_pool(campaign.pool), *requirements])
    for requirement in requirements:
        requirement.campaign = campaign
    return [_stored(requirement) for requirement in requirements]


def read(config: Wanted) -> list[Requirement]:
    """Read a task's requirements without storing them.

    Raises
    ------
    GenieError
        ``bad-requirements`` for an unusable configuration.
    """
    numbers = (
        (Kind.APPROVED, config.approved),
        (Kind.APPROVED_PERCENT, config.approved_percent),
    )
    requirements = [
        Requirement(kind=kind, at_least=at_least)
        for kind, at_least in numbers
        if at_least is not None
    ]
    if config.countries is not None:
        codes = " ".join(config.countries)
        requirements.append(Requirement(kind=Kind.COUNTRY, countries=codes))
    if config.languages is not None:
        codes = " ".join(config.languages)
        requirements.append(Requirement(kind=Kind.LANGUAGE, languages=codes))
    for requirement in requirements:
        _check(requirement)
    return requirements


def _check(requirement: Requirement) -> None:
    # The campaign does not exist yet, and the model needs a campaign or a pool: any
    # pool will do for the check.
    probe = Requirement(
        pool="x",
        kind=requirement.kind,
        at_least=requirement.at_least,
        countries=requirement.countries,
        languages=requirement.languages,
    )
    try:
        probe.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise _bad("; ".join(error.messages)) from error


def test_of_pool(pool: str, test_name: str) -> Requirement:
    return _stored(Requirement(pool=pool, kind=Kind.TEST, test_name=test_name))


def _stored(requirement: Requirement) -> Requirement:
    stored, _ = Requirement.objects.get_or_create(
        pool=requirement.pool,
        campaign=requirement.campaign,
        kind=requirement.kind,
        test_name=requirement.test_name,
        defaults={
            "at_least": requirement.at_least,
            "countries": requirement.countries,
            "languages": requirement.languages,
        },
    )
    return stored


def _bad(problem: str) -> GenieError:
    return GenieError(
        f"The worker requirements cannot be used: {problem.removesuffix('.')}.",
        code="bad-requirements",
    )
