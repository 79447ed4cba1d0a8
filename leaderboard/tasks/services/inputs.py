"""The instances that a campaign asks about, and those that test questions may show."""

from crowd.workers.selectors.requirements import inputs_of_tests
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import content_key
from leaderboard.tasks.config import EDITED, HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import has_references

# Edited tests are made from so many times as many inputs as there are tests. They are
# drawn before an output is read: to choose good ones for tests lowers the scores.
SET_ASIDE = 2


def asked_instances(task: Task, n_hidden: int) -> list[Instance]:
    """Return the sample, and as many more instances as hidden items take away.

    Each input comes once in a campaign, and the campaigns of a task hide tests behind
    different ones: neither an input nor how often it comes tells a test.
    """
    rows = task.instances.filter(sample_rank__lt=task.sample_size + n_hidden)
    # Workers who took the task's qualification test know its inputs and answers.
    tested = inputs_of_tests(task.slug)
    return [
        row
        for row in rows.order_by("sample_rank")
        if row.sample_rank < task.sample_size
        or content_key(task.slug, row.instance_id) not in tested
    ]


def set_aside(task: Task, seed: int, n: int) -> list[Instance]:
    """Return instances for `n` edited tests, which are not rated, in a random order."""
    spare = len(asked_instances(task, SET_ASIDE * n)) - task.sample_size
    ranks = {"sample_rank__lt": task.sample_size + SET_ASIDE * n}
    return _usable(task, seed, False, **ranks)[: max(0, spare)]


def instances_for_tests(
    task: Task, human: HumanConfig, seed: int, *, n: int, references: bool = True
) -> list[Instance]:
    """Return instances for test questions in an order that the seed decides.

    Genie's own questions are about rated instances, which others rate; about instances
    outside the sample if the crowd is too small for that or the sample has too few
    usable ones. Instances without references are left out unless `references` is false.
    """
    if human.test_questions == EDITED:
        aside = set_aside(task, seed, n)
        usable = [row for row in aside if has_references(row) or not references]
        if len(usable) >= n:
            return usable
        # Of a small task, some instances are both rated and a test: as few as possible,
        # because workers who pool what they saw find those that came twice.
        ranks = {"sample_rank__lt": task.sample_size + SET_ASIDE * n}
        both = [r for r in _usable(task, seed, references, **ranks) if r not in usable]
        return [*usable, *both[: SET_ASIDE * (n - len(usable))]]
    judged = _usable(task, seed, references, sample_rank__lt=task.sample_size)
    # One more than needed: each may use the text of another one as its wrong text.
    inside = human.tests_inside_sample
    if inside and len(judged) > n:
        return judged
    spare = _usable(task, seed, references, sample_rank__gte=task.sample_size)
    return [*judged, *spare] if inside else [*spare, *judged]


def _usable(task: Task, seed: int, references: bool, **side: int) -> list[Instance]:
    rows = task.instances.filter(**side).order_by("position")
    tested = inputs_of_tests(task.slug)
    usable = [
        row
        for row in rows
        if (has_references(row) or not references)
        and content_key(task.slug, row.instance_id) not in tested
    ]
    order = generator(seed_from("instances of test questions", seed)).permutation(
        len(usable)
    )
    return [usable[int(index)] for index in order]
