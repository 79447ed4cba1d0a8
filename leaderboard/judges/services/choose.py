"""People get the instances on which judges disagree: drawn with known chances, or undone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import transaction
from django.utils import timezone

from crowd.hits.models.campaign import Campaign
from crowd.workers.models.qualification_test import QualificationTest
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.evaluation.models.drawn_tests import DrawnTests
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.instance_choice import InstanceChoice
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.judges.definition import PAIRWISE
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.doubts import doubts_of
from leaderboard.stats.judges.choosing import choose_instances
from leaderboard.tasks.config import PLAIN, SIMULTANEOUS
from leaderboard.tasks.models import Instance, Task

State = HumanEvaluation.State
# the share of the chances that is the same everywhere, as in `choose_instances`
FLOOR = 0.5
# of what nobody has agreed to yet, the sample may still change
_NOT_BEGUN = (State.REQUESTED, State.DECLINED, State.WITHDRAWN)


@transaction.atomic
def choose(
    runs: Sequence[JudgeRun], criterion: str, *, by: Account, because: str
) -> InstanceChoice:
    """Draw the instances that people judge of a task by how much judges disagree.

    Parameters
    ----------
    runs : sequence of JudgeRun
        Finished ones on one task: of two judges or more, or one that asked repeatedly.
    criterion : str
    by : user
    because : str
        Why, for the log.

    Raises
    ------
    GenieError
        ``no-choice`` where people were asked already, or estimates could not allow for
        unequal chances.
    """
    if not runs:
        raise _no("choose at least one finished run")
    task = Task.objects.select_for_update().get(pk=runs[0].task.pk)
    _check_task(task)
    _check_runs(task, runs, criterion)
    doubts, systems = doubts_of(runs, criterion)
    # the same runs give the same draw: nobody can draw until they like it
    seed = seed_for("choice of instances", task.slug, *sorted(run.pk for run in runs))
    chosen = choose_instances(doubts, task.sample_size, seed=seed, floor=FLOOR)
    instances = list(task.instances.order_by("position"))
    choice = InstanceChoice.objects.create(
        task=task,
        criterion=criterion,
        submissions=systems,
        n=task.sample_size,
        floor=FLOOR,
        seed=seed,
        ranks_before=[one.sample_rank for one in instances],
        by_id=by.pk,
        because=because,
    )
    choice.runs.set(runs)
    first = np.ones(len(instances), dtype=np.bool_)
    first[chosen.instances] = False
    # the chosen first, each part in the order that it had
    order = np.lexsort((np.array([one.sample_rank for one in instances]), first))
    for rank, place in enumerate(order.tolist()):
        instances[place].sample_rank = rank
    for one, chance in zip(instances, chosen.propensities.tolist(), strict=True):
        one.propensity = chance
    _write(task, instances)
    return choice


@transaction.atomic
def undo(choice: InstanceChoice, *, by: Account, because: str) -> bool:
    """Put the order back as it was, as long as nothing was handed out.

    Returns
    -------
    bool
        False where it was undone already.

    Raises
    ------
    GenieError
        ``no-choice`` where people were asked.
    """
    task = Task.objects.select_for_update().get(pk=choice.task_id)
    standing = InstanceChoice.objects.filter(pk=choice.pk, undone_at=None)
    if not standing.exists():
        return False
    _check_nobody_asked(task)
    instances = list(task.instances.order_by("position"))
    for one, rank in zip(instances, choice.ranks_before, strict=True):
        one.sample_rank, one.propensity = rank, None
    _write(task, instances)
    standing.update(
        undone_at=timezone.now(), undone_by_id=by.pk, undone_because=because
    )
    return True


def _write(task: Task, instances: list[Instance]) -> None:
    fields = ["sample_rank", "propensity"]
    Instance.objects.bulk_update(instances, fields, batch_size=500)
    # what was drawn for evaluations that wait belongs to the sample of before
    DrawnTests.objects.filter(evaluation__task=task).delete()
    TestCheck.objects.filter(evaluation__task=task).delete()


def _check_task(task: Task) -> None:
    human = task.human
    if task.imported:
        raise _no(f"{task.title} was judged elsewhere")
    _check_nobody_asked(task)
    if task.instances.exclude(propensity=None).exists():
        raise _no("its instances have been chosen already")
    if task.configuration.page_by:
        raise _no(f"people judge whole documents of {task.title}, not chosen instances")
    if task.sample_size >= task.n_instances:
        raise _no(f"people judge all {task.n_instances:,} instances of {task.title}")
    if human.estimate != PLAIN or human.ranks != SIMULTANEOUS:
        raise _no(
            "only plain means can be weighted by unequal chances: say "
            f'estimate = "{PLAIN}" and ranks = "{SIMULTANEOUS}" in the task’s [human] first'
        )


def _check_nobody_asked(task: Task) -> None:
    evaluations = HumanEvaluation.objects.filter(task=task)
    # held until this is written: none of them can be approved meanwhile
    waiting = list(evaluations.select_for_update(of=("self",)).order_by("pk"))
    asked = any(one.state not in _NOT_BEGUN for one in waiting)
    if asked or Campaign.objects.filter(pool=task.slug).exists():
        raise _no(f"people have been asked, or are about to be, about {task.title}")
    if QualificationTest.objects.filter(pool=task.slug).exists():
        raise _no(f"a qualification test shows instances of {task.title} already")
    joint = HumanEvaluation.Strategy.JOINT
    if any(o.strategy == joint and o.state == State.REQUESTED for o in waiting):
        raise _no("a joint evaluation waits for approval; decline it first")


def _check_runs(task: Task, runs: Sequence[JudgeRun], criterion: str) -> None:
    for run in runs:
        if run.task_id != task.pk:
            raise _no("all runs must be on one task")
        if run.state != JudgeRun.State.DONE:
            raise _no(f"{run} is not over")
        if run.judge.definition["mode"] == PAIRWISE:
            raise _no(f"{run.judge} judged pairs; it takes scores of single outputs")
        if criterion not in run.plan["criteria"]:
            raise _no(f"{run} did not ask about {criterion!r}")
    if len({run.judge_id for run in runs}) != len(runs):
        raise _no("each run must be of another judge")
    if len(runs) == 1 and int(runs[0].judge.definition["k"]) < 2:
        raise _no("it takes two judges, or one that asks each question repeatedly")


def _no(why: str) -> GenieError:
    return GenieError(f"Instances cannot be chosen: {why}.", code="no-choice")
