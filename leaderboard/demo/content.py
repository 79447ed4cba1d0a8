"""The content of the demo: four tasks, their systems, and simulated answers."""

import io
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction

from crowd.campaigns.services import run
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.services import qualification_tests, requirements
from genie.lib import jobs
from genie.lib.seeds import generator
from leaderboard.demo import people, scripted
from leaderboard.demo.opinions import Opinions
from leaderboard.demo.systems import file_of, systems_of
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    JudgedItem,
)
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import qualification, refit
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.services import submit
from leaderboard.tasks import shipped
from leaderboard.tasks.config import read_task
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import load

SEED = 2022
State = Submission.State
Say = Callable[[str], None]

# One system is left half rated and one awaits approval, so that every kind of state can
# be seen.
HALF_JUDGED_TASK = "demo-translation"
SHUFFLED = "Shuffled-Ids"
N_QUESTIONS = 6
TEST_RULES = {"pass_percent": 80, "n_tries": 3, "wait_hours": 0}


def slugs() -> list[str]:
    return [
        slug
        for slug in shipped.known()
        if read_task(shipped.definition(slug), {}).config.demo
    ]


def present() -> bool:
    """Check whether the demo is complete from an earlier start.

    Its last step is a submission that staff may decide on. Their decision must not make
    the next start fill the demo again.
    """
    last = Submission.objects.filter(system_name=SHUFFLED)
    return last.exclude(state__in=[State.RECEIVED, State.VALID]).exists()


def make(say: Say) -> None:
    """Do the main job on the four tasks; an interrupted start is continued."""
    people.refuse_strangers()
    pools = slugs()
    for slug in pools:
        report = load.load_task(slug)
        say(f"task {report.task.title}: {report.n_instances} instances")
    owner = people.account(people.SUBMITTER)
    for slug in pools:
        _submit_systems(Task.objects.get(slug=slug), owner)
    say("validating the submissions and computing metrics")
    # systems that await approval are not measured, which takes a second each
    advance()
    jobs.drain()
    _approve_all(say)
    _judge(pools, say)
    _qualify(pools, say)
    _half_judged(pools, say)
    _shuffled(owner)
    jobs.drain()
    scripted.judge(say)
    # the boards have no readers yet: neither numbers nor a release wait until tomorrow
    for pool in pools:
        refit.refit_board(Task.objects.get(slug=pool))


def _submit_systems(task: Task, owner: Any) -> None:
    for system in systems_of(task.slug):
        name = system["name"]
        if Submission.objects.filter(task=task, system_name=name).exists():
            continue
        with file_of(task.slug, name).open("rb") as file:
            submit.receive(
                task=task,
                owner=owner,
                team=_team(system["team"], owner),
                system_name=name,
                file=file,
                file_name=f"{name}.json",
                description=system.get("description", ""),
                simulated=True,
            )


def _team(name: str, owner: Any) -> Any:
    slug = "-".join(name.lower().split())
    return people.team(name, slug, owner)


def _held_back() -> tuple[str, str]:
    return HALF_JUDGED_TASK, systems_of(HALF_JUDGED_TASK)[-1]["name"]


def _approve_all(say: Say) -> None:
    admin = people.admin()
    slug, held_back = _held_back()
    waiting = Submission.objects.filter(state=State.MEASURED, simulated=True)
    for submission in waiting.exclude(task__slug=slug, system_name=held_back).exclude(
        system_name=SHUFFLED
    ):
        # One per task is enough to show on its page of evidence.
        others = TestCheck.objects.filter(evaluation__task=submission.task)
        if not others.exists():
            decide.measure_together(submission)
        decide.approve(submission, by=admin, start_now=True)
    say("campaigns created, test questions added, HITs posted")
    _settle()


def _judge(pools: list[str], say: Say) -> None:
    crowd = Crowd(people.players(pools), quality=Opinions(pools), seed=SEED)
    total = 0

    def count(_: int) -> None:
        nonlocal total
        total += 1
        if total % 100 == 0:
            say(f"{total} HITs answered by simulated annotators")
            _settle()

    # lost ratings are asked for again; ten rounds certainly suffice
    for _round in range(10):
        crowd.work(count)
        _settle()
        if not Campaign.objects.filter(state=Campaign.State.RUNNING).exists():
            break
    say(f"{total} HITs answered by simulated annotators in total")


def _qualify(pools: list[str], say: Say) -> None:
    task = Task.objects.get(slug=HALF_JUDGED_TASK)
    known = QualificationTest.objects.filter(name=task.slug)
    if known.exists():
        return
    with transaction.atomic():
        test = qualification.draw_test(task, N_QUESTIONS, rules=TEST_RULES)
        qualification_tests.publish(test.pk, people.admin())
        requirements.test_of_pool(task.slug, test.name)
        # a separate seed: answers to the test must not depend on the number of HITs
        crowd = Crowd(people.players(pools), quality=Opinions(pools), seed=SEED + 2)
        open_to = [
            player
            for player in crowd.players
            if not player.worker.exclusions.filter(pool=task.slug).exists()
        ]
        n = sum(crowd.take_test(player, test.name) for player in open_to)
    say(
        f"{n} of {len(open_to)} simulated annotators passed the qualification test "
        f"for {task.title}"
    )


def _half_judged(pools: list[str], say: Say) -> None:
    slug, name = _held_back()
    submission = Submission.objects.get(task__slug=slug, system_name=name)
    if submission.state == State.MEASURED:
        decide.approve(submission, by=people.admin(), start_now=True)
        _settle()
        crowd = Crowd(people.players(pools), quality=Opinions(pools), seed=SEED + 1)
        half = submission.task.sample_size // 2
        for turn in range(4 * half):
            crowd.do_hit(crowd.players[turn % len(crowd.players)])
            if _n_answered(submission) >= half:
                break
        _settle()
        _answer_again(crowd, submission)
    people.worker(pools)
    say(f"{name} is half rated: sign in as a worker to continue")


def _answer_again(crowd: Crowd, but: Submission) -> None:
    """Rate again what was lost when these answers revealed a careless worker."""
    waits = EvaluationCampaign.objects.filter(evaluation=but.human_evaluation)
    keys = list(waits.values_list("campaign", flat=True))
    for pk in keys:
        run.pause(pk, people.admin())
    for _round in range(10):
        if not crowd.work():
            break
        _settle()
    for pk in keys:
        run.resume(pk, people.admin())


def _n_answered(submission: Submission) -> int:
    judged = JudgedItem.objects.filter(evaluation=submission.human_evaluation)
    return Assignment.objects.filter(
        hit__items__in=judged.values("item"),
        state__in=[Assignment.State.SUBMITTED, Assignment.State.APPROVED],
    ).count()


def _shuffled(owner: Any) -> None:
    """Submit good predictions under the wrong ids, which the pre-flight detects."""
    task = Task.objects.get(slug=HALF_JUDGED_TASK)
    if Submission.objects.filter(task=task, system_name=SHUFFLED).exists():
        return
    best = systems_of(task.slug)[0]["name"]
    texts = json.loads(file_of(task.slug, best).read_text("utf-8"))
    order = generator(SEED).permutation(len(texts))
    values = list(texts.values())
    shuffled = {
        key: values[int(index)] for key, index in zip(texts, order, strict=True)
    }
    submit.receive(
        task=task,
        owner=owner,
        team=_team("Careless Uploads", owner),
        system_name=SHUFFLED,
        file=io.BytesIO(json.dumps(shuffled, ensure_ascii=False).encode()),
        file_name="predictions.json",
        description="Good translations, but their ids got mixed up.",
        simulated=True,
    )


def _settle() -> None:
    advance()
    jobs.drain()
