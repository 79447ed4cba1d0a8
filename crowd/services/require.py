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
    wanted = read(config)
    if test_name:
        wanted.append(Requirement(kind=Kind.TEST, test_name=test_name))
    check_platform(campaign.platform, [*of_pool(campaign.pool), *wanted])
    for one in wanted:
        one.campaign = campaign
    return [_stored(one) for one in wanted]


def read(config: Mapping[str, Any]) -> list[Requirement]:
    """Read a task's requirements; nothing is stored.

    Raises
    ------
    GenieError
        ``bad-requirements`` for a configuration that says nothing usable.
    """
    if unknown := set(config) - {*NUMBERS, COUNTRIES}:
        raise _bad(f"unknown requirement: {', '.join(sorted(unknown))}")
    wanted = [
        Requirement(kind=kind, at_least=config[name])
        for name, kind in NUMBERS.items()
        if name in config
    ]
    if COUNTRIES in config:
        codes = " ".join(map(str, config[COUNTRIES]))
        wanted.append(Requirement(kind=Kind.COUNTRY, countries=codes))
    for one in wanted:
        _check(one)
    return wanted


def _check(wanted: Requirement) -> None:
    """Look at what is required, whoever it is required of."""
    probe = Requirement(
        pool="x",
        kind=wanted.kind,
        at_least=wanted.at_least,
        countries=wanted.countries,
    )
    try:
        probe.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise _bad("; ".join(error.messages)) from error


def test_of_pool(pool: str, test_name: str) -> Requirement:
    """Require a test for all work of a pool, once."""
    return _stored(Requirement(pool=pool, kind=Kind.TEST, test_name=test_name))


def _stored(wanted: Requirement) -> Requirement:
    found, _ = Requirement.objects.get_or_create(
        pool=wanted.pool,
        campaign=wanted.campaign,
        kind=wanted.kind,
        test_name=wanted.test_name,
        defaults={"at_least": wanted.at_least, "countries": wanted.countries},
    )
    return found


def _bad(problem: str) -> GenieError:
    return GenieError(
        f"The worker requirements cannot be used: {problem.removesuffix('.')}.",
        code="bad-requirements",
    )
