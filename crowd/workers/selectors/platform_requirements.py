from collections.abc import Iterable

from django.db.models import Q
from django.utils.translation import override

from crowd.elsewhere.models import PanelSource
from crowd.hits.models import Campaign
from crowd.platforms.base import kind_of
from crowd.platforms.demands import Requirements, StudyTerms
from crowd.platforms.panel import Panel
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.choices import languages as languages_by_code
from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_tests import graded_elsewhere
from genie.lib.errors import GenieError

Kind = Requirement.Kind


def of_pool(pool: str) -> list[Requirement]:
    return list(Requirement.objects.filter(campaign=None, pool=pool).order_by("pk"))


def of_work(campaign: Campaign) -> list[Requirement]:
    rows = Requirement.objects.filter(Q(pool=campaign.pool) | Q(campaign=campaign))
    return [row for row in rows.order_by("pk") if row.demands]


def check_platform(
    platform: str, required: Iterable[Requirement], study: StudyTerms | None = None
) -> None:
    """Refuse requirements that the platform cannot check.

    Raises
    ------
    GenieError
        ``requirement-not-checked``, with the requirements and the platform.
    """
    platform_class = kind_of(platform)
    rows = [row for row in required if row.demands]
    known = platform_class.capabilities
    unchecked = dict.fromkeys(
        str(row)
        for row in rows
        if row.kind not in known.attests
        and (
            not known.checks_requirements
            # self-reported languages are only known on this site
            or (row.kind == Kind.LANGUAGE and platform != SelfHosted.slug)
        )
    )
    if unchecked:
        raise _unchecked(platform_class.title, unchecked)
    if not known.checks_requirements:
        platform_class.check_study(summed(rows), study or StudyTerms())
    elif study is not None:
        platform_class.check_study(Requirements(), study)
    if platform == Panel.slug:
        panels = list(PanelSource.objects.filter(is_open=True))
        nobody = [
            str(row) for row in rows if not any(guarantees(p, row) for p in panels)
        ]
        if nobody:
            raise _unchecked("No panel that is open", nobody)


def guarantees(panel: PanelSource, row: Requirement) -> bool:
    codes = panel.countries.upper().replace(",", " ").split()
    return (
        row.kind == Kind.COUNTRY
        and bool(codes)
        and set(codes) <= set(row.country_codes)
    )


def _unchecked(who: str, what: Iterable[str]) -> GenieError:
    return GenieError(
        f"{who} cannot check these worker requirements: {'; '.join(what)}. Remove them "
        "or choose another platform.",
        code="requirement-not-checked",
    )


def _in_english(codes: Iterable[str]) -> list[str]:
    with override("en"):
        known = languages_by_code()
    return sorted(known.get(code, code) for code in codes)


def requirements_of(campaign: Campaign) -> Requirements:
    """Merge the requirements of the campaign and its pool; the stricter of two applies.

    Raises
    ------
    GenieError
        ``nobody-may-work``, or as `check_platform` and `graded_elsewhere`.
    """
    rows = of_work(campaign)
    check_platform(campaign.platform, rows)
    return summed(rows)


def summed(rows: Iterable[Requirement]) -> Requirements:
    approved, percent = 0, 0
    names: list[str] = []
    countries: set[str] | None = None
    languages: set[str] | None = None
    for row in rows:
        if row.kind == Kind.APPROVED:
            approved = max(approved, row.at_least or 0)
        elif row.kind == Kind.APPROVED_PERCENT:
            percent = max(percent, row.at_least or 0)
        elif row.kind == Kind.COUNTRY:
            named = set(row.country_codes)
            countries = named if countries is None else countries & named
        elif row.kind == Kind.LANGUAGE:
            spoken = set(row.language_codes)
            languages = spoken if languages is None else languages & spoken
        elif row.test_name not in names:
            names.append(row.test_name)
    for what, common in (("countries", countries), ("languages", languages)):
        if common is not None and not common:
            raise GenieError(
                f"The {what} in this campaign's requirements have none in common.",
                code="nobody-may-work",
            )
    return Requirements(
        minimum_approved=approved,
        minimum_percent_approved=percent,
        countries=sorted(countries or ()),
        tests=[graded_elsewhere(name) for name in names],
        languages=_in_english(languages or ()),
    )
