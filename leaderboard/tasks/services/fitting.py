"""Check whether a task can be loaded: its task.toml, the site's parts, their fit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from crowd import hit_templates, pricing
from crowd.hit_templates import HITTemplate
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
    PLAIN_TEXT,
    RANK_SUMS,
    Z_SCORES,
    HumanConfig,
    Problem,
    TaskConfig,
    marked,
    read_task,
)
from leaderboard.tasks.readers.base import all_readers
from leaderboard.tasks.services import languages, worker_requirements
from leaderboard.tasks.services.configuration import hit_type_for


@dataclass(frozen=True)
class Misfits:
    # keys and their values
    keys: list[Problem]
    # names that this site does not have
    names: list[Problem]
    # settings that conflict
    together: list[Problem]
    # requirements that cannot be checked of workers
    workers: list[Problem]

    def all(self) -> list[Problem]:
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


def _news(problems: Iterable[Problem], reported: Sequence[Problem]) -> list[Problem]:
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


def _unknown_names(config: TaskConfig) -> Iterator[Problem]:
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
            yield Problem(
                key,
                f"is {name!r}, which this site does not have; there are "
                f"{', '.join(known) or 'none'}.",
            )


def _of_workers(human: HumanConfig) -> Iterator[Problem]:
    if human.platform in all_platforms():
        try:
            worker_requirements.check(human)
        except GenieError as error:
            yield Problem("human.requirements", _within(error))


def _of_table(table: str, config: TaskConfig, human: HumanConfig) -> list[Problem]:
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
        *languages.problems(table, human, config.fields.values()),
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


def _of_pay(config: TaskConfig, document: Mapping[str, object]) -> Iterator[Problem]:
    found: set[str] = {""}
    for table, human in _tables(config).items():
        problem = pay_problem(human) if table in document else ""
        if problem not in found:
            yield Problem(f"{table}.reward_cents", problem)
        found.add(problem)


def _of_ranks(human: HumanConfig) -> Iterator[Problem]:
    if human.ranks == RANK_SUMS and human.estimate == ADJUSTED:
        yield Problem(
            "human.ranks",
            "tests the ratings themselves by rank sums; it goes with "
            f'estimate = "{Z_SCORES}" or "{PLAIN}", not with scores that are adjusted for '
            "workers.",
        )


def _of_judges(config: TaskConfig) -> Iterator[Problem]:
    if config.judges.rank and config.human.ranks == RANK_SUMS:
        yield Problem(
            "judges.rank",
            "goes with ranks by simultaneous comparisons: rank sums are of people’s "
            "ratings alone.",
        )


def _of_formats(config: TaskConfig) -> Iterator[Problem]:
    design = all_designs().get(config.human.design)
    if design and design.marks_errors and config.output_format != PLAIN_TEXT:
        yield Problem(
            "output_format",
            f"errors are marked in plain text, not in {config.output_format}.",
        )


def _of_place(
    table: str, design: type[Design], scale: type[Scale]
) -> Iterator[Problem]:
    several = not design.about_one_system()
    if table == "human" and several:
        yield Problem(
            "human.design",
            f"the design {design.slug} shows outputs of several systems; it belongs in "
            "[comparison] or [joint], and [human] evaluates one system at a time.",
        )
    if table != "human" and not several:
        yield Problem(
            f"{table}.design",
            f"the design {design.slug} shows one system at a time; it belongs in [human].",
        )
    if table == "comparison" and several and not scale.compares:
        yield Problem(
            "comparison.scale",
            f"the scale {scale.slug} does not say which of two outputs is better.",
        )
    if table == "joint" and several and scale.compares:
        yield Problem(
            "joint.scale",
            f"the scale {scale.slug} compares two outputs, but there may be more here.",
        )


def _of_design(
    table: str, design: type[Design], template: HITTemplate, scale: type[Scale]
) -> Iterator[Problem]:
    # a family of scales, such as `number`, includes all of its ranges
    if {scale.slug, scale.slug.partition("_")[0]}.isdisjoint(design.scales):
        yield Problem(
            f"{table}.scale",
            f"the design {design.slug} works with the scale "
            f"{' or '.join(design.scales)}, not {scale.slug}.",
        )
    for sentence in _of_template(design, template, scale):
        yield Problem(f"{table}.hit_template", sentence)


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
) -> Iterator[Problem]:
    for key in ("before_text", "show_input"):
        for name in sorted({*getattr(human, key)} - {*human.criteria}):
            yield Problem(
                f"{table}.{key}", f"names {name!r}, which is not one of the criteria."
            )
    for criteria in human.separate():
        try:
            check_hit_type(hit_type_for(title, human, criteria))
        except GenieError as error:
            yield Problem(f"{table}.criteria", _within(error))
    yield from marked.problems(table, human, polarities=design.test_polarities)


def _within(error: GenieError) -> str:
    return error.message[0].lower() + error.message[1:]
