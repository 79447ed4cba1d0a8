"""The currency of a platform's account, asked while staff decide on a cost."""

from collections.abc import Iterable

from django.conf import settings

from crowd.money.selectors import rates
from crowd.platforms.base import Platform, StudyTerms, get, kind_of
from crowd.workers.models.requirement import Requirement
from crowd.workers.services.requirements import sum_requirements
from genie.lib.errors import GenieError

# Staff wait for the page, so failures are left to the check before publishing.
QUICK = {"tries": 1, "timeout_seconds": 5.0}
REFUSALS = ("wrong-currency", "requirement-not-checked", "nobody-may-work")


def check(slug: str, required: Iterable[Requirement], study: StudyTerms) -> None:
    """Refuse an approval if the platform would refuse the study.

    Raises
    ------
    GenieError
        ``wrong-currency`` if no rate is stored for the account's currency,
        ``requirement-not-checked`` if a filter is missing there.
    """
    if not _has_studies(slug):
        return
    try:
        platform = _quick(slug)
        rates.rate_of(platform.currency())
        platform.check_filters(
            sum_requirements(row for row in required if row.demands), study
        )
    except GenieError as error:
        if error.code in REFUSALS:
            raise


def pays_in(slug: str, cents: int) -> str:
    """Return what an amount costs in the platform's currency; empty without an account."""
    if not _has_studies(slug):
        return ""
    title = kind_of(slug).title
    try:
        currency = _quick(slug).currency()
        rate = rates.rate_of(currency)
    except GenieError as error:
        return f"{title} has not reported the currency of the account. {error.message}"
    if rate is None:
        return f"The account on {title} pays in {currency}, like the budgets here."
    return (
        f"The account on {title} pays in {currency}: {rates.format_amount(cents, rate)}, at "
        f"the stored rate of {rate}."
    )


def _has_studies(slug: str) -> bool:
    known = kind_of(slug).capabilities
    return known.external and not known.assigns_items


def _quick(slug: str) -> Platform:
    return get(slug, {**settings.GENIE.get("PLATFORMS", {}).get(slug, {}), **QUICK})
