"""A campaign's requirements as far as other platforms know their people."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from crowd.hits.models.campaign import Campaign
from crowd.platforms.base import Requirements, kind_of
from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_tests import graded_elsewhere
from genie.lib.errors import GenieError

Kind = Requirement.Kind


def of_pool(pool: str) -> list[Requirement]:
    """Give what staff require for all work of a pool."""
    return list(Requirement.objects.filter(campaign=None, pool=pool).order_by("pk"))


def check_platform(platform: str, required: Iterable[Requirement]) -> None:
    """Refuse requirements where the platform cannot check them.

    Raises
    ------
    GenieError
        ``requirement-not-checked``, with the requirements and the platform.
    """
    platform_class = kind_of(platform)
    unchecked = list(dict.fromkeys(str(row) for row in required if row.demands))
    if unchecked and not platform_class.capabilities.checks_requirements:
        raise GenieError(
            f"{platform_class.title} cannot check these worker requirements: "
            f"{'; '.join(unchecked)}. Remove them or choose another platform.",
            code="requirement-not-checked",
        )


def requirements_of(campaign: Campaign) -> Requirements:
    """Sum up what the campaign and its pool require; the stricter of two holds.

    Of countries, those that all of them name.

    Raises
    ------
    GenieError
        ``nobody-may-work``, or as `check_platform` and `graded_elsewhere`.
    """
    rows = Requirement.objects.filter(Q(pool=campaign.pool) | Q(campaign=campaign))
    check_platform(campaign.platform, rows.order_by("pk"))
    approved, percent = 0, 0
    names: list[str] = []
    countries: set[str] | None = None
    for row in rows.order_by("pk"):
        if row.kind == Kind.APPROVED:
            approved = max(approved, row.at_least or 0)
        elif row.kind == Kind.APPROVED_PERCENT:
            percent = max(percent, row.at_least or 0)
        elif row.kind == Kind.COUNTRY:
            named = set(row.country_codes)
            countries = named if countries is None else countries & named
        elif row.kind == Kind.LANGUAGE:
            raise GenieError(
                "Which languages workers speak is only known on this site.",
                code="requirement-not-checked",
            )
        elif row.test_name not in names:
            names.append(row.test_name)
    if countries is not None and not countries:
        raise GenieError(
            "The countries in this campaign's requirements have none in common.",
            code="nobody-may-work",
        )
    return Requirements(
        minimum_approved=approved,
        minimum_percent_approved=percent,
        countries=sorted(countries or ()),
        tests=[graded_elsewhere(name) for name in names],
    )
