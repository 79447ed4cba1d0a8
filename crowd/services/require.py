"""Require things of workers: of one campaign, by its task's configuration, or of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from crowd.models import Campaign, Requirement
from crowd.selectors.platform_requirements import check_platform, of_pool
from genie.lib.errors import GenieError

Kind = Requirement.Kind
# name in a task's configuration -> kind
NUMBERS = {"approved": Kind.APPROVED, "approved_percent": Kind.APPROVED_PERCENT}
COUNTRIES = "countries"


def of_campaign(
    campaign: Campaign, config: Mapping[str, Any], test_name: str = ""
) -> list[Requirement]:
    """Write down what a campaign requires, once; callers open the transaction.

    Raises
    ------
    GenieError
        ``bad-requirements``, or ``requirement-not-checked`` where the platform could not
        keep away who lacks it.
    """
    requirements = read(config)
    if test_name:
        requirements.append(Requirement(kind=Kind.TEST, test_name=test_name))
    check_platform(campaign.platform, [*of_pool(campaign.pool), *requirements])
    for requirement in requirements:
        requirement.campaign = campaign
    return [_stored(requirement) for requirement in requirements]


def read(config: Mapping[str, Any]) -> list[Requirement]:
    """Read a task's requirements; nothing is stored.

    Raises
    ------
    GenieError
        ``bad-requirements`` for a configuration that says nothing usable.
    """
    if unknown := set(config) - {*NUMBERS, COUNTRIES}:
        raise _bad(f"there is no {', '.join(sorted(unknown))}")
    requirements = [
        Requirement(kind=kind, at_least=config[name])
        for name, kind in NUMBERS.items()
        if name in config
    ]
    if COUNTRIES in config:
        codes = " ".join(map(str, config[COUNTRIES]))
        requirements.append(Requirement(kind=Kind.COUNTRY, countries=codes))
    for requirement in requirements:
        _check(requirement)
    return requirements


def _check(requirement: Requirement) -> None:
    """Look at what is required, whoever it is required of."""
    # The campaign does not exist yet, and the model asks for a campaign or a pool: any
    # pool will do for the check.
    probe = Requirement(
        pool="x",
        kind=requirement.kind,
        at_least=requirement.at_least,
        countries=requirement.countries,
    )
    try:
        probe.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise _bad("; ".join(error.messages)) from error


def test_of_pool(pool: str, test_name: str) -> Requirement:
    """Require a test for all work of a pool, once."""
    return _stored(Requirement(pool=pool, kind=Kind.TEST, test_name=test_name))


def _stored(requirement: Requirement) -> Requirement:
    stored, _ = Requirement.objects.get_or_create(
        pool=requirement.pool,
        campaign=requirement.campaign,
        kind=requirement.kind,
        test_name=requirement.test_name,
        defaults={"at_least": requirement.at_least, "countries": requirement.countries},
    )
    return stored


def _bad(problem: str) -> GenieError:
    return GenieError(
        f"What is required of workers cannot be used: {problem}.",
        code="bad-requirements",
    )
