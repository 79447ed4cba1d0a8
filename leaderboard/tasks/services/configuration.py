"""Designs, HIT types and instances for test questions, by a task's configuration."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from crowd import hit_templates, pricing
from crowd.elsewhere.services import accounts
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.form import PLAIN as PLAIN_TEXT
from crowd.hit_templates.words import LANGUAGE
from crowd.hits.selectors import CHECKED, SCALE, errors_named, wording_in
from crowd.hits.services.build import HITTypeSpec, check_hit_type
from crowd.platforms.base import StudyTerms, all_platforms
from crowd.platforms.selfhosted import SelfHosted
from crowd.scales.base import Scale, all_scales
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.requirement import Requirement
from crowd.workers.services import requirements as require
from crowd.workers.services.requirements import check_platform, of_pool
from genie.lib.errors import GenieError
from genie.lib.moment import next_start
from leaderboard.designs.base import Design, Shown, TaskView, all_designs
from leaderboard.tasks.chosen_metrics import metric_problems
from leaderboard.tasks.config import (
    ADJUSTED,
    PLAIN,
    RANK_SUMS,
    Z_SCORES,
    HumanConfig,
    TaskConfig,
    read_task,
)
from leaderboard.tasks.config import Problem as SettingProblem
from leaderboard.tasks.config.human import REQUIRED, problems_of_test_criteria
from leaderboard.tasks.config.kinds import Problem
from leaderboard.tasks.models import GENERAL, Instance, Task
from leaderboard.tasks.readers.base import all_readers


def design_of(task: Task, human: HumanConfig) -> Design:
    """Return the configured design, or raise an error if the site does not have it."""
    designs = all_designs()
    if human.design not in designs:
        raise GenieError(
            f"{task.title} names the design {human.design!r}, which this site does "
            "not have.",
            code="unknown-design",
        )
    return designs[human.design]()


def commitment_key(submission_pk: int) -> str:
    """Return the name of a submission's campaign and of its reserved money."""
    return f"submission:{submission_pk}"


def campaign_keys(key: str, human: HumanConfig) -> list[str]:
    """Return the keys of the campaigns for these criteria; the first is `key`."""
    return [
        key,
        *(f"{key}:{next(iter(criteria))}" for criteria in human.separate()[1:]),
    ]


def hit_type_of(
    task: Task, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    return hit_type_for(task.title, human, criteria)


def hit_type_for(
    title: str, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Return the HIT type of a task, which need not be loaded.

    The task's summary is written for submitters; workers read the HIT template's
    description.
    """
    template = hit_templates.get(human.hit_template)
    if human.language in template.words:
        template = template.in_words(human.language)
    return HITTypeSpec(
        template=human.hit_template,
        scale=human.scale,
        criteria=dict(criteria),
        title=f"Rate texts: {title}"[:128],
        description=template.description,
        keywords="text, rating, language",
        reward_cents=human.reward_cents,
        assignment_seconds=60 * human.assignment_minutes,
        form=human.form(criteria),
    )


def errors_asked(human: HumanConfig) -> Mapping[str, Any]:
    """Return the table of errors to mark: the task's, or else its HIT template's."""
    return human.errors or hit_templates.get(human.hit_template).form.get("errors", {})


def task_view(task: Task, human: HumanConfig) -> TaskView:
    return TaskView(
        slug=task.slug,
        field_labels=task.field_labels,
        source_language=task.source_language,
        target_language=task.target_language,
        show_reference=human.show_reference,
        standard_value=human.standard_value,
        formats=task.configuration.formats,
        output_format=task.configuration.output_format,
        page_by=human.page_by,
    )


def unsaved_task(slug: str, document: Mapping[str, Any], n_instances: int) -> Task:
    """Return the task that a task.toml would become; it is not stored."""
    words = ("title", "kind", "summary", "source_language", "target_language")
    hidden = document.get("release", {}).get("hidden_references", False)
    return Task(
        slug=slug,
        config=dict(document),
        n_instances=n_instances,
        hidden_references=bool(hidden),
        **{name: str(document.get(name, "")) for name in words},
    )


def show_instance(instance: Instance) -> Shown:
    return Shown(
        instance_pk=instance.pk,
        instance_id=instance.instance_id,
        fields=instance.fields,
        references=instance.references,
        position=instance.position,
    )


def has_references(instance: Instance) -> bool:
    """Check whether an instance has references and none is blank."""
    return bool(instance.references) and all(
        text.strip() for text in instance.references
    )


def noisy_below(human: HumanConfig) -> dict[str, float]:
    """Return the share of right answers below which a worker is noisy, by polarity.

    Polarities that the task leaves out have the site's share.
    """
    return human.noisy_below.shares(float(settings.GENIE["NOISY_BELOW"]))


# When a published method starts its work: Genie, section 6.
PUBLISHED_START = ("America/Los_Angeles", 10)


def starts_at(task: Task, *, now: bool) -> datetime:
    """Return when work is sent out: at the method's or the site's hour, or now."""
    if now:
        return timezone.now()
    usual = settings.GENIE["CAMPAIGN_ZONE"], settings.GENIE["CAMPAIGN_HOUR"]
    zone, hour = PUBLISHED_START if task.configuration.method else usual
    return next_start(
        timezone.now(),
        zone=zone,
        hour=hour,
        holidays={date.fromisoformat(day) for day in settings.GENIE["HOLIDAYS"]},
    )


# A task's requirements for workers, and whether its platform can check them.
def check_requirements(human: HumanConfig, pool: str = "") -> None:
    """Refuse requirements that would fail when the first campaign starts.

    Raises ``bad-requirements`` or ``requirement-not-checked``.
    """
    # [human.study] applies to the platform in [human]
    study = study_of(human) if type(human) is HumanConfig else None
    check_platform(human.platform, _requirements_of(human, pool), study)


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
    accounts.check(human.platform, _requirements_of(human, pool), study_of(human))


def _requirements_of(human: HumanConfig, pool: str) -> list[Requirement]:
    requirements = require.read(stated_requirements(human))
    if human.qualification_test is not None:
        requirements.append(
            Requirement(kind=Requirement.Kind.TEST, test_name="test of this task")
        )
    return [*(of_pool(pool) if pool else []), *requirements]


def study_of(human: HumanConfig) -> StudyTerms:
    return StudyTerms(**asdict(human.study))


def stated_requirements(human: HumanConfig) -> require.Wanted:
    return require.Wanted(**asdict(human.requirements))


# Check whether a task can be loaded: its task.toml, the site's parts, their fit.

# Check whether a task's translations have everything that a page needs.
_LONGEST = 16
_NO_CODE = "is no code of a language, such as de or zh-hans."


def language_problems(
    table: str, human: HumanConfig, labels: Iterable[str]
) -> Iterator[Problem]:
    """Yield missing and superfluous texts of each language of a task."""
    if not _is_code(human.language):
        yield Problem(f"{table}.language", _NO_CODE)
        return
    hit_type = hit_type_for("", human, human.criteria)
    known = {*labels, *errors_named(hit_type)}
    for language, words in human.languages.items():
        key = f"{table}.languages.{language}"
        if not _is_code(language):
            yield Problem(key, _NO_CODE)
            continue
        if language == human.language:
            yield Problem(key, f"is the language that [{table}] is written in.")
            continue
        for missing in wording_in(hit_type, language, labels).missing:
            if missing in (SCALE, CHECKED):
                what = f"scale {human.scale}" if missing == SCALE else "checkboxes"
                yield Problem(key, f"cannot be: there is no {what} in it.")
                continue
            yield Problem(
                f"{key}.{missing}",
                "is missing: all that a page says must be there in each language, here "
                f"or in the HIT template {human.hit_template}.",
            )
        for criterion in sorted({*words.questions} - {*human.criteria}):
            yield Problem(f"{key}.questions.{criterion}", "is not asked.")
        for label in sorted({*words.labels} - known):
            yield Problem(f"{key}.labels.{label}", "is the label of no field.")
        if words.consent and not human.consent:
            yield Problem(
                f"{key}.consent",
                f"is not needed: [{table}] uses the standard consent.",
            )


def _is_code(language: str) -> bool:
    return len(language) <= _LONGEST and bool(re.fullmatch(LANGUAGE, language))


@dataclass(frozen=True)
class Misfits:
    # keys and their values
    keys: list[SettingProblem]
    # names that this site does not have
    names: list[SettingProblem]
    # settings that conflict
    together: list[SettingProblem]
    # requirements that cannot be checked of workers
    workers: list[SettingProblem]

    def all(self) -> list[SettingProblem]:
        return [*self.keys, *self.names, *self.together, *self.workers]


def usable(slug: str, document: Mapping[str, object]) -> TaskConfig:
    """Read a task.toml, or refuse it with all of its problems.

    Raises ``unusable-task``; the details have the problems by key.
    """
    problems = misfits(document).all()
    if problems:
        n = "" if len(problems) == 1 else f" {len(problems)} things are wrong."
        raise GenieError(
            f"{slug}/task.toml:{n} {' '.join(map(str, problems))}",
            code="unusable-task",
            details={
                "problems": [[problem.key, problem.sentence] for problem in problems]
            },
        )
    return read_task(document, hit_templates.stored_templates()).config


def misfits(document: Mapping[str, object]) -> Misfits:
    """Return all problems of a task.toml, but none that only follows from another."""
    parsed = read_task(document, hit_templates.stored_templates())
    config, keys = parsed.config, list(parsed.problems)
    together = [*metric_problems(config.metrics)]
    for table, human in _tables(config).items():
        together += _of_table(table, config, human)
    together += _of_pay(config, document)
    together += _of_ranks(config.human)
    together += _of_judges(config)
    together += _of_formats(config)
    together += _of_statement(config, document)
    names = _news(_unknown_names(config), keys)
    return Misfits(
        keys,
        names,
        _news(together, keys),
        _news(_of_workers(config.human), [*keys, *names]),
    )


def _news(
    problems: Iterable[SettingProblem], reported: Sequence[SettingProblem]
) -> list[SettingProblem]:
    """Leave out problems that follow from one at the same key, above or below it."""
    return [
        problem
        for problem in problems
        if not any(
            f"{other.key}.".startswith(f"{problem.key}.")
            or f"{problem.key}.".startswith(f"{other.key}.")
            for other in reported
        )
    ]


def _tables(config: TaskConfig) -> dict[str, HumanConfig]:
    return {
        "human": config.human,
        "comparison": config.comparison,
        "joint": config.joint,
    }


def _unknown_names(config: TaskConfig) -> Iterator[SettingProblem]:
    release = config.release
    named: list[tuple[str, str, Collection[str]]] = [
        ("release.reader", release.reader, all_readers())
    ]
    if reader := all_readers().get(release.reader):
        named += [
            (f"release.options.{name}", name, reader.options)
            for name in release.options
        ]
    for table, human in _tables(config).items():
        named += [
            (f"{table}.design", human.design, all_designs()),
            (f"{table}.scale", human.scale, all_scales()),
            (
                f"{table}.hit_template",
                human.hit_template,
                hit_templates.stored_templates(),
            ),
        ]
        if table == "human" or human.platform != config.human.platform:
            named.append((f"{table}.platform", human.platform, all_platforms()))
    for key, name, known in named:
        if name not in known:
            yield SettingProblem(
                key,
                f"is {name!r}, which this site does not have; there are "
                f"{', '.join(known) or 'none'}.",
            )


def _of_workers(human: HumanConfig) -> Iterator[SettingProblem]:
    if human.platform in all_platforms():
        try:
            check_requirements(human)
        except GenieError as error:
            yield SettingProblem("human.requirements", _within(error))


def _of_table(
    table: str, config: TaskConfig, human: HumanConfig
) -> list[SettingProblem]:
    """Return conflicting settings of one table.

    Names that this site does not have are reported elsewhere, with the known ones.
    """
    design = all_designs().get(human.design)
    scale = all_scales().get(human.scale)
    template = hit_templates.stored_templates().get(human.hit_template)
    if design is None or scale is None or template is None:
        return []
    problems = [*_of_place(table, design, scale)]
    problems += _of_design(table, design, template, scale)
    # Questions are checked once the parts fit, or one mistake is reported twice.
    return problems or [
        *_of_questions(table, config.title, human, design),
        *language_problems(table, human, config.fields.values()),
    ]


def pay_problem(human: HumanConfig) -> str:
    """Return the problem of a reward below the minimum for the expected time of a HIT.

    Workers of this site came by a link or an invitation; those of a platform are paid.
    """
    template = hit_templates.stored_templates().get(human.hit_template)
    seconds = human.expected_seconds or (template.seconds if template else 0)
    return pricing.pay_problem(
        human.reward_cents,
        seconds,
        int(settings.GENIE["MINIMUM_HOURLY_CENTS"]),
        volunteers=human.platform == SelfHosted.slug,
    )


def check_consent(human: HumanConfig) -> None:
    """Raise GenieError ``consent-incomplete`` unless workers can read who asks."""
    if missing := [name for name in REQUIRED if not getattr(human, name).strip()]:
        raise GenieError(
            f"Consent of workers lacks: {', '.join(missing)}. State it on the page on "
            "which the task is changed, or in [human] of task.toml; without an approval "
            "of an ethics board, say there why none is needed.",
            code="consent-incomplete",
        )


def _of_pay(
    config: TaskConfig, document: Mapping[str, object]
) -> Iterator[SettingProblem]:
    found: set[str] = {""}
    for table, human in _tables(config).items():
        problem = pay_problem(human) if table in document else ""
        if problem not in found:
            yield SettingProblem(f"{table}.reward_cents", problem)
        found.add(problem)


def _of_ranks(human: HumanConfig) -> Iterator[SettingProblem]:
    if human.ranks == RANK_SUMS and human.estimate == ADJUSTED:
        yield SettingProblem(
            "human.ranks",
            "tests the ratings themselves by rank sums; it goes with "
            f'estimate = "{Z_SCORES}" or "{PLAIN}", not with scores that are adjusted for '
            "workers.",
        )


def _of_judges(config: TaskConfig) -> Iterator[SettingProblem]:
    if config.judges.rank and config.human.ranks == RANK_SUMS:
        yield SettingProblem(
            "judges.rank",
            "goes with ranks by simultaneous comparisons: rank sums are of people’s "
            "ratings alone.",
        )


def _of_formats(config: TaskConfig) -> Iterator[SettingProblem]:
    design = all_designs().get(config.human.design)
    if design and design.marks_errors and config.output_format != PLAIN_TEXT:
        yield SettingProblem(
            "output_format",
            f"errors are marked in plain text, not in {config.output_format}.",
        )


def _of_statement(
    config: TaskConfig, document: Mapping[str, object]
) -> Iterator[SettingProblem]:
    tables = (document.get(name) for name in _tables(config))
    asks = any(isinstance(one, Mapping) and "criteria" in one for one in tables)
    if config.human.hit_template == GENERAL and not asks:
        yield SettingProblem(
            "human.criteria",
            f"is missing; write the question, for which {GENERAL} has no default.",
        )


def _of_place(
    table: str, design: type[Design], scale: type[Scale]
) -> Iterator[SettingProblem]:
    several = not design.about_one_system()
    if table == "human" and several:
        yield SettingProblem(
            "human.design",
            f"the design {design.slug} shows outputs of several systems; it belongs in "
            "[comparison] or [joint], and [human] evaluates one system at a time.",
        )
    if table != "human" and not several:
        yield SettingProblem(
            f"{table}.design",
            f"the design {design.slug} shows one system at a time; it belongs in [human].",
        )
    if table == "comparison" and several and not scale.compares:
        yield SettingProblem(
            "comparison.scale",
            f"the scale {scale.slug} does not say which of two outputs is better.",
        )
    if table == "joint" and several and scale.compares:
        yield SettingProblem(
            "joint.scale",
            f"the scale {scale.slug} compares two outputs, but there may be more here.",
        )


def _of_design(
    table: str, design: type[Design], template: HITTemplate, scale: type[Scale]
) -> Iterator[SettingProblem]:
    # a family of scales, such as `number`, includes all of its ranges
    if {scale.slug, scale.slug.partition("_")[0]}.isdisjoint(design.scales):
        yield SettingProblem(
            f"{table}.scale",
            f"the design {design.slug} works with the scale "
            f"{' or '.join(design.scales)}, not {scale.slug}.",
        )
    for sentence in _of_template(design, template, scale):
        yield SettingProblem(f"{table}.hit_template", sentence)


def _of_template(
    design: type[Design], template: HITTemplate, scale: type[Scale]
) -> Iterator[str]:
    several = design.in_slots()
    if several != template.shows_outputs:
        yield (
            f"the design {design.slug} shows {'several outputs' if several else 'one output'}"
            f", the HIT template {template.slug} {'one' if several else 'several'}."
        )
    standard = any(field.name == "standard" for field in template.fields)
    if scale.relative and not standard:
        yield (
            f"the scale {scale.slug} is relative to a reference output, which "
            f"the HIT template {template.slug} does not show."
        )
    if standard and not scale.relative:
        yield (
            f"the HIT template {template.slug} shows a reference output with its "
            f"value, which the design {design.slug} does not provide."
        )
    marks = design.marks_errors
    if marks != template.marks_errors:
        yield (
            f"errors are {'' if marks else 'not '}marked in the design {design.slug}, "
            f"but {'not ' if marks else ''}in the HIT template {template.slug}."
        )


def _of_questions(
    table: str, title: str, human: HumanConfig, design: type[Design]
) -> Iterator[SettingProblem]:
    for key in ("before_text", "show_input"):
        for name in sorted({*getattr(human, key)} - {*human.criteria}):
            yield SettingProblem(
                f"{table}.{key}", f"names {name!r}, which is not one of the criteria."
            )
    for criteria in human.separate():
        try:
            check_hit_type(hit_type_for(title, human, criteria))
        except GenieError as error:
            yield SettingProblem(f"{table}.criteria", _within(error))
    yield from problems_of_test_criteria(
        table, human, polarities=design.test_polarities
    )


def _within(error: GenieError) -> str:
    return error.message[0].lower() + error.message[1:]
