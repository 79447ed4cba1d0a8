from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import override

from crowd.elsewhere.models import PanelSource
from crowd.hits.models import Campaign, HITType
from crowd.platforms.base import (
    Choice,
    FormQuestion,
    QualifyingTest,
    Requirements,
    StudyTerms,
    kind_of,
)
from crowd.platforms.panel import Panel
from crowd.platforms.selfhosted import SelfHosted
from crowd.scales.base import all_scales
from crowd.workers.choices import languages as languages_by_code
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.requirement import Requirement
from genie.lib.errors import GenieError

# Our qualification tests on other platforms: multiple choice, graded there.
SECONDS_PER_HOUR = 3600


def graded_elsewhere(name: str) -> QualifyingTest:
    """Return the current version of a test.

    Raises
    ------
    GenieError
        ``no-such-test`` if there is none, ``test-stays-here`` if a question is not a
        single choice.
    """
    test = (
        QualificationTest.objects.filter(
            name=name, state=QualificationTest.State.PUBLISHED
        )
        .select_related("hit_type")
        .first()
    )
    if test is None:
        raise GenieError(
            f"No version of the qualification test {name!r} is in use.",
            code="no-such-test",
        )
    questions = [
        _form_question(question, test.hit_type)
        for question in test.questions.order_by("position", "pk")
    ]
    if test.n_asked:
        questions = questions[: test.n_asked]
    return QualifyingTest(
        name=f"{test.title} ({test.name}, version {test.version})",
        introduction=test.introduction,
        pass_percent=test.pass_percent,
        questions=questions,
        retry_seconds=(
            None if test.n_tries == 1 else test.wait_hours * SECONDS_PER_HOUR
        ),
    )


def _form_question(
    question: QualificationQuestion, hit_type: HITType | None
) -> FormQuestion:
    if question.data is None or hit_type is None:
        choices = [
            Choice(str(index), text) for index, text in enumerate(question.answers)
        ]
        right = [str(int(question.expected["choice"]))]
        return FormQuestion(f"q{question.pk}", question.text, choices, right)
    scale = all_scales()[hit_type.scale]
    data: Mapping[str, Any] = question.data
    one_text = isinstance(data.get("prediction"), str)
    if (
        scale.compares
        or not scale.options
        or not one_text
        or len(hit_type.criteria) > 1
    ):
        raise GenieError(
            "Qualification tests with comparisons, numbers or several ratings can "
            "only be taken on this site.",
            code="test-stays-here",
        )
    parts = [f"{field['label']}: {field['text']}" for field in data.get("fields", ())]
    parts += [f"To be rated: {data['prediction']}", *hit_type.criteria.values()]
    line = float(question.expected.get("threshold", scale.binary_threshold))
    good = bool(question.expected["good"])
    return FormQuestion(
        f"q{question.pk}",
        "\n\n".join(parts),
        [Choice(option.raw, option.label) for option in scale.options],
        [option.raw for option in scale.options if (option.value > line) is good],
    )


Kind = Requirement.Kind


def of_pool(pool: str) -> list[Requirement]:
    return list(Requirement.objects.filter(campaign=None, pool=pool).order_by("pk"))


def of_work(campaign: Campaign) -> list[Requirement]:
    rows = Requirement.objects.filter(Q(pool=campaign.pool_id) | Q(campaign=campaign))
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
        raise _unchecked_error(platform_class.title, unchecked)
    if not known.checks_requirements:
        platform_class.check_study(sum_requirements(rows), study or StudyTerms())
    elif study is not None:
        platform_class.check_study(Requirements(), study)
    if platform == Panel.slug:
        panels = list(PanelSource.objects.filter(is_open=True))
        unmet = [
            str(row) for row in rows if not any(guarantees(p, row) for p in panels)
        ]
        if unmet:
            raise _unchecked_error("No panel that is open", unmet)


def guarantees(panel: PanelSource, row: Requirement) -> bool:
    codes = panel.countries.upper().replace(",", " ").split()
    return (
        row.kind == Kind.COUNTRY
        and bool(codes)
        and set(codes) <= set(row.country_codes)
    )


def _unchecked_error(who: str, what: Iterable[str]) -> GenieError:
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
    return sum_requirements(rows)


def sum_requirements(rows: Iterable[Requirement]) -> Requirements:
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
    check_platform(campaign.platform, [*of_pool(campaign.pool_id), *requirements])
    for requirement in requirements:
        requirement.campaign = campaign
    return [_store_requirement(requirement) for requirement in requirements]


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
        try:
            # The campaign does not exist yet, and the constraints need one.
            requirement.full_clean(validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            problem = "; ".join(error.messages).removesuffix(".")
            raise GenieError(
                f"The worker requirements cannot be used: {problem}.",
                code="bad-requirements",
            ) from error
    return requirements


def test_of_pool(pool: str, test_name: str) -> None:
    _store_requirement(Requirement(pool_id=pool, kind=Kind.TEST, test_name=test_name))


def _store_requirement(requirement: Requirement) -> Requirement:
    stored, _ = Requirement.objects.get_or_create(
        pool_id=requirement.pool_id,
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
