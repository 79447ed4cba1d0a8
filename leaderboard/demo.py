"""The demonstration: four small tasks, their systems, and simulated annotators.

`genie demo` uses the whole product with it; all its data are marked as simulated.
"""

import io
import json
import secrets
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from crowd.campaigns.services import run
from crowd.hits.models import Assignment, Campaign, Item
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.worker import Worker
from crowd.workers.services import (
    invitations,
    qualification_tests,
    requirements,
    test_attempts,
)
from crowd.workers.services.invitations import give_consent
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.seeds import generator
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide as evaluation_decide
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    EvaluationCampaign,
    Subject,
)
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import qualification, refit
from leaderboard.evaluation.services.simulate import (
    AGREEABLE,
    CARELESS,
    DILIGENT,
    Crowd,
    Player,
)
from leaderboard.judges.definition import SCRIPTED
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.services import ask, decide, define
from leaderboard.submissions.models import Prediction, Submission, Team
from leaderboard.submissions.selectors import in_state
from leaderboard.submissions.services import submit
from leaderboard.tasks import shipped
from leaderboard.tasks.config import read_task
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services import load
from leaderboard.teams.models import Membership
from quality.bans import services as bans
from quality.bans.models import Ban, HeldExclusion
from quality.test_questions.models import TestCheck

# The demo's accounts: real ones, with passwords drawn at the first start.
ADMIN, SUBMITTER, WORKER = "admin", "sam", "wren"
# No such address exists; it distinguishes the demo's accounts from others.
MARK = "@demo.invalid"
HABITS = [DILIGENT] * 7 + [CARELESS, AGREEABLE]


@dataclass(frozen=True)
class Credentials:
    role: str
    username: str
    password: str


def account(username: str, **fields: Any) -> Any:
    user, _ = get_user_model().objects.get_or_create(
        username=username, defaults={"email": f"{username}{MARK}", **fields}
    )
    return user


def refuse_strangers() -> None:
    """Refuse a database in which the demo's names belong to other accounts."""
    strangers = (
        get_user_model()
        .objects.filter(username__in=[ADMIN, SUBMITTER, WORKER])
        .exclude(email__endswith=MARK)
        .order_by("username")
    )
    if stranger := strangers.first():
        raise GenieError(
            f"This database has an account {stranger.get_username()!r} that the demo "
            "did not create and whose password it would change. Use a different "
            "database or folder for the demo: GENIE_VAR=var/demo make demo.",
            code="not-a-demo",
        )


def demo_admin() -> Any:
    return account(ADMIN, is_staff=True, is_superuser=True)


def team(name: str, slug: str, member: Any) -> Team:
    team, _ = Team.objects.get_or_create(slug=slug, defaults={"name": name})
    team.members.add(member, through_defaults={"role": Membership.Role.OWNER})
    return team


def worker(pools: list[str]) -> Worker:
    user = account(WORKER)
    worker = Worker.objects.filter(user=user).first()
    if worker is None:
        worker = invitations.register_worker(user=user, platform_worker_id=WORKER)
    for pool in pools:
        give_consent(worker, pool)
    return worker


def players(pools: list[str]) -> list[Player]:
    """Return the simulated workers: most work well, two do not."""
    crowd = []
    for number, habit in enumerate(HABITS, start=1):
        worker_id = f"simulated-{number}"
        worker = Worker.objects.filter(platform_worker_id=worker_id).first()
        if worker is None:
            worker = invitations.register_worker(
                platform_worker_id=worker_id, simulated=True
            )
        for pool in pools:
            give_consent(worker, pool)
        crowd.append(Player(worker, habit))
    return crowd


def passwords() -> list[Credentials]:
    """Return the credentials; those of the first start are in a file of GENIE_VAR."""
    refuse_strangers()
    demo_admin()
    roles = {
        ADMIN: "staff, in the admin",
        SUBMITTER: "submitter",
        WORKER: "worker, at /work/",
    }
    file = settings.VAR_DIR / "demo-passwords.json"
    file.touch(mode=0o600)
    drawn = json.loads(file.read_text("utf-8") or "{}")
    for username in roles:
        user = account(username)
        if username not in drawn or not user.password:
            drawn[username] = secrets.token_urlsafe(9)
            user.set_password(drawn[username])
            user.save(update_fields=["password"])
    file.write_text(json.dumps(drawn), "utf-8")
    return [Credentials(role, name, drawn[name]) for name, role in roles.items()]


# A judge of the demo: a script, and labeled as one beside its scores.
TASK = "demo-summarization"
_SCRIPT = "words"


def judge(say: Callable[[str], None]) -> None:
    task = Task.objects.get(slug=TASK)
    if JudgeRun.objects.filter(task=task).exists():
        return
    admin = demo_admin()
    made = {"endpoint": SCRIPTED, "model": _SCRIPT}
    judge = define.make(_SCRIPT, "1", made, by=admin, per_minute=0)
    run = ask.ask(judge, task, ask.Wish(), by=admin)
    decide.approve(
        run, by=admin, reason="Genie sends no data to other servers and pays no money."
    )
    jobs.drain()
    say(f"a word-counting script judged {run.n_calls} outputs of {task.title}")


def systems_of(slug: str) -> list[dict[str, Any]]:
    path = shipped.folder(slug) / "systems" / "systems.toml"
    systems: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["system"]
    return systems


def file_of(slug: str, name: str) -> Path:
    return shipped.folder(slug) / "systems" / f"{name}.json"


OPINIONS = {"right": 0.95, "partly": 0.5, "wrong": 0.08}


class Opinions:
    """Item to opinion, from the folders' own notes; a reference is right."""

    def __init__(self, pools: list[str]) -> None:
        self._notes = {
            (slug, system["name"]): system
            for slug in pools
            for system in systems_of(slug)
        }
        self._references = {
            content_key(slug, instance_id): set(references)
            for slug, instance_id, references in Instance.objects.filter(
                task__slug__in=pools
            ).values_list("task__slug", "instance_id", "references")
        }

    def __call__(self, item: Item) -> float:
        anchors = AnchorItem.objects.filter(item=item)
        own = "item__campaign__asked__submission"
        judged = (
            anchors.values_list(*_about("submission")).first()
            or Subject.objects.filter(item=item).values_list(*_about(own)).first()
        )
        if judged is None:
            return self._of_test(item)
        return self._of_output(*judged)

    def _of_test(self, item: Item) -> float:
        text = item.data["prediction"]
        if text in self._references.get(item.content_key, set()):
            return OPINIONS["right"]
        rows = Prediction.objects.filter(text=text).values_list(
            "submission__task__slug", "submission__system_name", "instance__instance_id"
        )
        for slug, system, instance_id in rows:
            known = (slug, system) in self._notes
            if known and content_key(slug, instance_id) == item.content_key:
                return self._of_output(slug, system, instance_id)
        return OPINIONS["wrong"]

    def _of_output(self, slug: str, system: str, instance_id: str) -> float:
        notes = self._notes[slug, system]
        for opinion, value in OPINIONS.items():
            if instance_id in notes.get(opinion, ()):
                return value
        return OPINIONS[notes["usual"]]


def _about(submission: str) -> tuple[str, str, str]:
    task = f"{submission}__task__slug"
    return task, f"{submission}__system_name", "instance__instance_id"


# The content of the demo: four tasks, their systems, and simulated answers.
SEED = 2022
State = Submission.State
Say = Callable[[str], None]

# One system is left half rated and one awaits approval, so that every kind of state can
# be seen.
HALF_JUDGED_TASK = "demo-translation"
SHUFFLED = "Shuffled-Ids"
N_QUESTIONS = 6


def slugs() -> list[str]:
    return [
        slug
        for slug in shipped.known_tasks()
        if read_task(shipped.definition(slug), {}).config.demo
    ]


def present() -> bool:
    """Check whether the demo is complete from an earlier start.

    Its last step is a submission that staff may decide on. Their decision must not make
    the next start fill the demo again.
    """
    last = Submission.objects.filter(system_name=SHUFFLED)
    return last.exclude(own_state__in=[State.RECEIVED, State.VALID]).exists()


def make(say: Say) -> None:
    """Do the main job on the four tasks; an interrupted start is continued."""
    refuse_strangers()
    pools = slugs()
    for slug in pools:
        report = load.load_task(slug)
        say(f"task {report.task.title}: {report.n_instances} instances")
    owner = account(SUBMITTER)
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
    _submit_shuffled(owner)
    jobs.drain()
    judge(say)
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
    return team(name, slug, owner)


def _held_back() -> tuple[str, str]:
    return HALF_JUDGED_TASK, systems_of(HALF_JUDGED_TASK)[-1]["name"]


def _approve_all(say: Say) -> None:
    admin = demo_admin()
    slug, held_back = _held_back()
    waiting = Submission.objects.filter(in_state(State.MEASURED), simulated=True)
    for submission in waiting.exclude(task__slug=slug, system_name=held_back).exclude(
        system_name=SHUFFLED
    ):
        # One per task is enough to show on its page of evidence.
        others = TestCheck.objects.filter(evaluation__task=submission.task)
        if not others.exists():
            evaluation_decide.measure_together(submission.evaluation)
            check = TestCheck.objects.filter(evaluation=submission.evaluation).first()
            if check is not None and check.refused:
                say(f"{submission}: {check.verdict} {evaluation_decide.BY_PROGRAMS}")
        evaluation_decide.approve(submission.evaluation, by=admin, start_now=True)
    say("campaigns created, test questions added, HITs posted")
    _settle()


def _judge(pools: list[str], say: Say) -> None:
    crowd = Crowd(players(pools), quality=Opinions(pools), seed=SEED)
    diligent = [one.worker for one in crowd.players if one.habit == DILIGENT]
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
        _decide_exclusions(diligent)
        if not Campaign.objects.filter(state=Campaign.State.RUNNING).exists():
            break
    say(f"{total} HITs answered by simulated annotators in total")


def _decide_exclusions(diligent: list[Worker]) -> None:
    """Decide as staff do, because the scores wait for it."""
    for held in HeldExclusion.objects.filter(state=Ban.State.PROPOSED):
        decided = bans.refuse if held.worker in diligent else bans.confirm
        decided(held.pk, by=demo_admin(), reason="Decided by the demo.")
    _settle()


def _qualify(pools: list[str], say: Say) -> None:
    task = Task.objects.get(slug=HALF_JUDGED_TASK)
    known = QualificationTest.objects.filter(name=task.slug)
    if known.exists():
        return
    with transaction.atomic():
        rules = {"pass_percent": 80, "n_tries": 3, "wait_hours": 0}
        test = qualification.draw_test(task, N_QUESTIONS, rules=rules)
        qualification_tests.publish(test.pk, demo_admin())
        requirements.test_of_pool(task.slug, test.name)
        # a separate seed: answers to the test must not depend on the number of HITs
        crowd = Crowd(players(pools), quality=Opinions(pools), seed=SEED + 2)
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
        asked = submission.evaluation
        evaluation_decide.approve(asked, by=demo_admin(), start_now=True)
        _settle()
        crowd = Crowd(players(pools), quality=Opinions(pools), seed=SEED + 1)
        half = submission.task.sample_size // 2
        for turn in range(4 * half):
            crowd.do_hit(crowd.players[turn % len(crowd.players)])
            if _n_answered(submission) >= half:
                break
        _settle()
        _answer_again(crowd, submission)
    test_attempts.grant_by_hand(worker(pools), slug, by=demo_admin())
    say(f"{name} is half rated. Sign in as a worker to finish it")


def _answer_again(crowd: Crowd, but: Submission) -> None:
    waits = EvaluationCampaign.objects.filter(submission=but)
    keys = list(waits.values_list("campaign", flat=True))
    for pk in keys:
        run.pause(pk, demo_admin())
    for _round in range(10):
        if not crowd.work():
            break
        _settle()
    for pk in keys:
        run.resume(pk, demo_admin())


def _n_answered(submission: Submission) -> int:
    judged = Subject.objects.filter(item__campaign__asked__submission=submission)
    return Assignment.objects.filter(
        hit__items__in=judged.values("item"),
        state__in=[Assignment.State.SUBMITTED, Assignment.State.APPROVED],
    ).count()


def _submit_shuffled(owner: Any) -> None:
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
