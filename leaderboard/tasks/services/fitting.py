"""Check whether a task can be loaded: its task.toml, the site's parts, their fit."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from crowd import hit_templates, pricing
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.form import PLAIN as PLAIN_TEXT
from crowd.hit_templates.words import LANGUAGE
from crowd.hits.selectors import CHECKED, SCALE, errors_named, wording
from crowd.hits.services.build import check_hit_type
from crowd.platforms.base import all_platforms
from crowd.platforms.selfhosted import SelfHosted
from crowd.scales.base import Scale
from crowd.scales.find import all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import Design, all_designs
from leaderboard.tasks.chosen_metrics import metric_problems
from leaderboard.tasks.config import (
    ADJUSTED,
    PLAIN,
    RANK_SUMS,
    Z_SCORES,
    HumanConfig,
    TaskConfig,
    marked,
    read_task,
)
from leaderboard.tasks.config import Problem as SettingProblem
from leaderboard.tasks.config.kinds import Problem
from leaderboard.tasks.readers.base import all_readers
from leaderboard.tasks.services import worker_requirements
from leaderboard.tasks.services.configuration import hit_type_for

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
        for missing in wording(hit_type, language, labels).missing:
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
                f"translates nothing: [{table}] has no consent of its own.",
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
    return read_task(document, hit_templates.known()).config


def misfits(document: Mapping[str, object]) -> Misfits:
    """Return all problems of a task.toml, but none that only follows from another."""
    parsed = read_task(document, hit_templates.known())
    config, keys = parsed.config, list(parsed.problems)
    together = [*metric_problems(config.metrics)]
    for table, human in _tables(config).items():
        together += _of_table(table, config, human)
    together += _of_pay(config, document)
    together += _of_ranks(config.human)
    together += _of_judges(config)
    together += _of_formats(config)
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
            (f"{table}.hit_template", human.hit_template, hit_templates.known()),
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
            worker_requirements.check(human)
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
    template = hit_templates.known().get(human.hit_template)
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
    template = hit_templates.known().get(human.hit_template)
    seconds = human.expected_seconds or (template.seconds if template else 0)
    return pricing.pay_problem(
        human.reward_cents,
        seconds,
        int(settings.GENIE["MINIMUM_HOURLY_CENTS"]),
        volunteers=human.platform == SelfHosted.slug,
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
    yield from marked.problems(table, human, polarities=design.test_polarities)


def _within(error: GenieError) -> str:
    return error.message[0].lower() + error.message[1:]
