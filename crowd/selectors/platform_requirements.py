"""A campaign's requirements as far as other platforms know their people."""

from __future__ import annotations

from django.db.models import Q

from crowd.models import Campaign, Requirement
from crowd.platforms.base import Requirements
from crowd.selectors.platform_tests import graded_elsewhere
from genie.lib.errors import GenieError

Kind = Requirement.Kind


def requirements_of(campaign: Campaign) -> Requirements:
    """Sum up what the campaign and its pool require; the stricter of two holds.

    Of countries, those that all of them name.
    """
    rows = Requirement.objects.filter(Q(pool=campaign.pool) | Q(campaign=campaign))
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
        elif row.test_name not in names:
            names.append(row.test_name)
    if countries is not None and not countries:
        raise GenieError(
            "The countries that this campaign's requirements name have none in common.",
            code="nobody-may-work",
        )
    return Requirements(
        minimum_approved=approved,
        minimum_percent_approved=percent,
        countries=sorted(countries or ()),
        tests=[graded_elsewhere(name) for name in names],
    )
