"""Requirements as Prolific's filters; the others are refused with a reason.

Filters and their choices have ids that Prolific may change, so they are looked up by
name when a study is created.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from crowd.platforms.base import Requirements, StudyTerms
from genie.lib.errors import GenieError

COUNTRY = "current-country-of-residence"
LANGUAGES = "fluent-languages"
APPROVED_PERCENT = "approval_rate"
APPROVED = "approval_numbers"
AI_TASKERS = "ai-taskers"
# the one choice of that filter
TESTED = "0"
ALLOWED, BLOCKED = "participant_group_allowlist", "participant_group_blocklist"
# Countries of Prolific's people, as in its list of choices.
COUNTRIES = dict(
    line.split(" ", 1)
    for line in """\
AE United Arab Emirates|AR Argentina|AT Austria|AU Australia|BD Bangladesh|BE Belgium
BG Bulgaria|BR Brazil|CA Canada|CH Switzerland|CL Chile|CN China|CO Colombia|CY Cyprus
CZ Czech Republic|DE Germany|DK Denmark|EE Estonia|EG Egypt|ES Spain|FI Finland|FR France
GB United Kingdom|GH Ghana|GR Greece|HK Hong Kong|HR Croatia|HU Hungary|ID Indonesia
IE Ireland|IL Israel|IN India|IS Iceland|IT Italy|JP Japan|KE Kenya|KR South Korea
LT Lithuania|LU Luxembourg|LV Latvia|MT Malta|MX Mexico|MY Malaysia|NG Nigeria
NL Netherlands|NO Norway|NZ New Zealand|PE Peru|PH Philippines|PK Pakistan|PL Poland
PT Portugal|RO Romania|RS Serbia|SA Saudi Arabia|SE Sweden|SG Singapore|SI Slovenia
SK Slovakia|TH Thailand|TR Turkey|TW Taiwan|UA Ukraine|US United States|VN Vietnam
ZA South Africa""".replace("\n", "|").split("|")
)
WARNINGS = ("", "sensitive", "explicit")
Catalogue = Mapping[str, Mapping[str, Any]]
Filters = list[dict[str, Any]]


def check(requirements: Requirements, study: StudyTerms) -> None:
    """Refuse requirements that no filter covers, without calling the server.

    Raises
    ------
    GenieError
        ``requirement-not-checked``

    Examples
    --------
    >>> check(Requirements(countries=["US", "GB"]), StudyTerms(quotas={"US": 1, "GB": 2}))
    >>> check(Requirements(countries=["QQ"]), StudyTerms())
    Traceback (most recent call last):
    ...
    genie.lib.errors.GenieError: Prolific cannot check that people live in QQ: ...
    """
    if requirements.tests:
        raise refusal("a qualification test", "it gives no tests of ours")
    for code in requirements.countries:
        if code not in COUNTRIES:
            raise refusal(f"that people live in {code}", "it has no such country")
    if study.quotas and set(study.quotas) != set(requirements.countries):
        raise refusal(
            "the quotas", "they must name the required countries, each of them once"
        )
    if not all(share > 0 for share in study.quotas.values()):
        raise refusal("the quotas", "each must be at least 1")
    if study.content_warning not in WARNINGS:
        raise refusal(
            f"the content warning {study.content_warning!r}",
            "it knows sensitive and explicit",
        )
    if bool(study.screen_out_cents) != bool(study.screen_out_places):
        raise refusal(
            "the screen-out payment", "it needs both an amount and a number of places"
        )


def needs_catalogue(requirements: Requirements, study: StudyTerms) -> bool:
    return bool(
        requirements.countries
        or requirements.minimum_approved
        or requirements.minimum_percent_approved
        or requirements.languages
        or study.ai_taskers
    )


def filters_of(
    requirements: Requirements, study: StudyTerms, catalogue: Catalogue
) -> Filters:
    """Return the filters of a study.

    `catalogue` has Prolific's filters by id, as listed.

    Raises
    ------
    GenieError
        ``requirement-not-checked`` if a filter or a choice of it is missing.
    """
    check(requirements, study)
    made: Filters = []
    if requirements.countries:
        names = {code: COUNTRIES[code] for code in requirements.countries}
        keys = _choices(catalogue, COUNTRY, names.values(), "where people live")
        made.append({"filter_id": COUNTRY, "selected_values": keys})
        if study.quotas:
            by_code = dict(zip(names, keys, strict=True))
            made[-1]["weightings"] = {
                by_code[code]: share for code, share in study.quotas.items()
            }
    if requirements.languages:
        names_said = requirements.languages
        keys = _choices(catalogue, LANGUAGES, names_said, "people's languages")
        made.append({"filter_id": LANGUAGES, "selected_values": keys})
    for name, least, what in (
        (APPROVED, requirements.minimum_approved, "the number of approvals"),
        (APPROVED_PERCENT, requirements.minimum_percent_approved, "the approval rate"),
    ):
        if least:
            made.append(_at_least(catalogue, name, least, what))
    if study.ai_taskers:
        if TESTED not in _filter(catalogue, AI_TASKERS, "AI taskers")["choices"]:
            raise refusal("AI taskers", "its list of filters has changed")
        made.append({"filter_id": AI_TASKERS, "selected_values": [TESTED]})
    made += groups(ALLOWED, study.groups)
    return made


def groups(name: str, ids: Iterable[str]) -> Filters:
    chosen = [one for one in ids if one]
    return [{"filter_id": name, "selected_values": chosen}] if chosen else []


def refusal(what: str, why: str) -> GenieError:
    return GenieError(
        f"Prolific cannot check {what}: {why}.", code="requirement-not-checked"
    )


def _filter(catalogue: Catalogue, name: str, what: str) -> Mapping[str, Any]:
    if name not in catalogue:
        raise refusal(what, f"this account has no filter {name}")
    return catalogue[name]


def _choices(
    catalogue: Catalogue, name: str, wanted: Iterable[str], what: str
) -> list[str]:
    choices = _filter(catalogue, name, what).get("choices") or {}
    keys = {str(label).casefold(): str(key) for key, label in choices.items()}
    found = []
    for label in wanted:
        if label.casefold() not in keys:
            raise refusal(what, f"its filter {name} has no choice {label!r}")
        found.append(keys[label.casefold()])
    return found


def _at_least(catalogue: Catalogue, name: str, least: int, what: str) -> dict[str, Any]:
    most = _filter(catalogue, name, what).get("max")
    if isinstance(most, int | float) and least > most:
        raise refusal(what, f"its filter {name} ends at {most}")
    selected = {"lower": least} | ({} if most is None else {"upper": most})
    return {"filter_id": name, "selected_range": selected}
