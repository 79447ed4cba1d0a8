"""Boards of every kind, each with a second task beside it that no page may mix in."""

import csv
import io
import json
import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from django.apps import apps
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from crowd.models import Campaign
from genie.accounts.models import TaskRole
from genie.lib import jobs
from leaderboard import demo
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.judges.services import ask, define
from leaderboard.models import (
    Instance,
    MetricResult,
    MetricRun,
    OutsideMetric,
    OutsideScores,
    Score,
    Submission,
    Task,
    Team,
)
from leaderboard.studio.services import keep
from leaderboard.submissions.selectors import Staff
from leaderboard.submissions.services import submit
from leaderboard.tasks.services import load
from tests.cast import allow
from tests.factories import (
    answer,
    asked_about,
    make_evaluation,
    make_many_ranked,
    make_ranked,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
)
from tests.kept import kept

ROLES = (
    "visitor",
    "submitter",
    "rival",
    "worker",
    "task_staff",
    "view_staff",
    "superuser",
)
# Of the task beside: no page of another task names them.
BESIDE = ("Quetzal beside", "Hoatzin beside")


@dataclass
class World:
    """One board, who is who, and what a visitor must not read."""

    kind: str
    task: Task
    accounts: dict[str, object]
    hidden: tuple[str, ...] = ()
    has_texts: bool = True
    marks: dict[str, object] = field(default_factory=dict)

    def client(self, role: str) -> Client:
        client = Client(raise_request_exception=False)
        if (user := self.accounts.get(role)) is not None:
            client.force_login(user)
        return client


def settle() -> None:
    advance()
    jobs.drain()


def accounts() -> dict[str, object]:
    """Make one account for each role that does not depend on a task."""
    made = {
        "boss": make_user("boss", is_staff=True, is_superuser=True),
        "submitter": make_user("nina"),
        "rival": make_user("rita"),
        "worker": make_user("wim"),
        "task_staff": make_user("tess", is_staff=True),
        "view_staff": make_user("vera", is_staff=True),
    }
    made["superuser"] = made["boss"]
    make_team("Team Heron", made["submitter"])
    make_team("Team Rook", made["rival"])
    make_worker(user=made["worker"], name="wim-at-the-platform")
    allow(made["view_staff"], *Staff)
    return made


def rights_on(task: Task, user: object) -> None:
    group, _ = Group.objects.get_or_create(name="on one task")
    allow(group, *Staff, "leaderboard.change_submission")
    TaskRole.objects.get_or_create(user=user, role=group, pool=task.slug)


def world(kind: str, make: Callable[[dict], Task], **more) -> World:
    who = accounts()
    beside = make_task("beside", title="The task beside")
    here = {"team": Team.objects.get(members=who["rival"]), "owner": who["rival"]}
    for place, name in enumerate(BESIDE):
        make_ranked(beside, 70 - 10 * place, system=name, **here)
    # the home page shows the newest board, which is to be the other
    Submission.own.update(published_at=timezone.now() - timedelta(days=3))
    task = make(who)
    rights_on(task, who["task_staff"])
    return World(kind, task, who, **more)


# imported ratings ---------------------------------------------------------


def rows_of(n_systems, n_items, n_raters, criteria, *, texts=False, seed=1):
    """Yield the rows of a long table, a rating of 1 to 7 each."""
    rng = random.Random(seed)
    head = ["system", "item", "rater", *criteria]
    yield [*head, "source", "output", "reference"] if texts else head
    for s in range(n_systems):
        for i in range(n_items):
            for r in range(n_raters):
                values = [
                    min(7, max(1, round(2 + 3 * s / n_systems + rng.gauss(1, 1.2))))
                    for _ in criteria
                ]
                row = [f"system-{s:03}", f"item-{i:02}", f"rater-{r:02}", *values]
                if texts:
                    row += [
                        f"Where is place {i} & <why>?",
                        f"Place {i} is near <b>{s}</b> & far.",
                        f"Place {i} is near the sea.",
                    ]
                yield row


def brought(slug: str, files: dict[str, str], **options) -> Task:
    """Import files by the command, as a person would."""
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content, "utf-8")
        call_command(
            "import_judgments", folder, task=slug, owner="boss", verbosity=0, **options
        )
    jobs.drain()
    return Task.objects.get(slug=slug)


def csv_of(rows) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def imported(n_systems=3, n_items=8, n_raters=4, criteria=("overall",), **more):
    def make(_who):
        rows = rows_of(n_systems, n_items, n_raters, criteria, **more)
        scale = {"scale": ["*=number_1_7"]}
        if len(criteria) > 1:
            scale |= {"choose": [f"rating={','.join(criteria)}"]}
        return brought("old-ratings", {"ratings.csv": csv_of(rows)}, **scale)

    return make


def two_choice(_who) -> Task:
    rng = random.Random(2)
    rows = [["pair_id", "worker", "shown_a", "shown_b", "winner"]]
    for i in range(36):
        a, b = rng.sample(["red", "green", "blue"], 2)
        better = max(a, b) if rng.random() < 0.8 else min(a, b)
        rows.append([i % 12, f"w{i % 4}", a, b, "tie" if i % 9 == 8 else better])
    return brought("old-choices", {"votes.csv": csv_of(rows)}, choose=["lost=yes"])


def pages(values: Callable[[random.Random, int], object]):
    """Make pages of three outputs each, as E2E's files had them."""

    def make(_who):
        rng = random.Random(3)
        head = ["page", "judgment", "worker", "started_at", "created_at", "mr_id", "mr"]
        names = [*(f"natur{n}" for n in (1, 2, 3)), *(f"sys{n}" for n in (1, 2, 3))]
        rows = [[*head, *names]]
        for i in range(12):
            for w in range(3):
                at = f"11/29/2017 03:{10 + w}:0{i % 6}"
                row = [f"P{i}", f"J{i}-{w}", f"W{w}", at, at, i, f"name[Ada {i}]"]
                order = rng.sample(range(3), 3)
                row += [values(rng, s) for s in order]
                row += [["red", "green", "blue"][s] for s in order]
                rows.append(row)
        return brought("old-pages", {"tone.csv": csv_of(rows)})

    return make


def conversations(_who) -> Task:
    rng = random.Random(4)
    lines = []
    for i in range(30):
        a, b = rng.sample(["red", "green", "blue"], 2)
        talk = [{"role": "user", "content": f"Hello <b>{i % 10}</b> & you?"}]
        lines.append(
            {
                "question_id": f"q{i % 10}",
                "model_a": a,
                "model_b": b,
                "winner": rng.choice(["model_a", "model_b", "tie", "tie (bothbad)"]),
                "judge": f"arena_user_{i % 4}",
                "turn": 1,
                "anony": True,
                "tstamp": 1750000000.5 + i,
                "conversation_a": [*talk, {"role": "assistant", "content": f"{a} {i}"}],
                "conversation_b": [*talk, {"role": "assistant", "content": f"{b} {i}"}],
            }
        )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return brought("old-talks", {"logs.jsonl": text}, choose=["lost=yes"])


def two_versions(who) -> Task:
    """Import twice, and load a task that says it is a new version of the first."""
    task = imported()(who)
    Score.own.update(created_at=timezone.now() - timedelta(days=3))
    rows = list(rows_of(3, 12, 4, ("overall",), seed=9))
    rows = [rows[0], *(row for row in rows[1:] if int(row[1][-2:]) >= 8)]
    more = {"ratings-2.csv": csv_of(rows)}
    brought(task.slug, more, scale=["*=number_1_7"])
    newer = make_task("newer-ratings", title="Newer ratings")
    Task.objects.filter(pk=newer.pk).update(version_of=task.slug)
    return Task.objects.get(pk=task.pk)


# asked here -----------------------------------------------------------------------


def texts_of(task: Task, share: float) -> dict[str, str]:
    """Give outputs of which a share of the sample is right."""
    rows = list(task.instances.order_by("sample_rank"))
    right = {row.instance_id for row in rows[: round(share * 12)]}
    return {
        row.instance_id: row.references[0]
        if row.instance_id in right
        else rows[place - 1].references[0]
        for place, row in enumerate(rows)
    }


def hand_in(task: Task, owner, name: str, share: float) -> Submission:
    submission = submit.receive(
        task=task,
        owner=owner,
        team=submit.team_for(owner),
        system_name=name,
        file=io.BytesIO(json.dumps(texts_of(task, share)).encode()),
        file_name="predictions.json",
        simulated=True,
    )
    jobs.drain()
    submission.refresh_from_db()
    return submission


def crowd_of(task: Task) -> Crowd:
    references = {
        content_key(task.slug, row.instance_id): set(row.references)
        for row in Instance.objects.filter(task=task)
    }

    def of_text(item, text):
        return 0.9 if text in references[item.content_key] else 0.1

    def quality(item):
        return of_text(item, item.data.get("prediction", ""))

    players = [p for p in demo.players([task.slug]) if p.habit == DILIGENT]
    return Crowd(players, quality=quality, of_text=of_text, seed=5)


def run_board(who: dict, **human) -> Task:
    """Take three systems all the way to the board, with simulated workers."""
    task = load.load_task("demo-qa").task
    config = deepcopy(task.config)
    config["human"] |= {"sample_size": 8, **human}
    config["quota"] = {"submissions": 50, "days": 7}
    Task.objects.filter(pk=task.pk).update(config=config)
    task.refresh_from_db()
    crowd = crowd_of(task)
    systems = []
    for name, share in (("Kite", 1.0), ("Crow <b>&", 0.6), ("Wren", 0.3)):
        systems.append(hand_in(task, who["submitter"], name, share))
        decide.approve(asked_about(systems[-1]), by=who["boss"], start_now=True)
    settle()
    for _ in range(6):
        crowd.work()
        settle()
        if all(_now(s).state == Submission.State.PUBLISHED for s in systems):
            break
    states = [_now(s).state for s in systems]
    assert states == ["PUBLISHED"] * 3, [(s.state, s.work.failure) for s in systems]
    return task


def as_by_people(task: Task) -> Task:
    """Let the simulated workers of a board have been people."""
    for model in apps.get_models():
        if any(one.name == "simulated" for one in model._meta.fields):
            model._base_manager.update(simulated=False)
    Task.objects.filter(pk=task.pk).update(demo=False)
    return Task.objects.get(pk=task.pk)


def _now(submission: Submission) -> Submission:
    submission.refresh_from_db()
    return submission


def simulated(who: dict) -> Task:
    return kept("walk: simulated", lambda: run_board(who))


def own(who: dict) -> Task:
    return as_by_people(simulated(who))


def preference(who: dict) -> Task:
    human = {
        "design": "preference",
        "scale": "preference-5",
        "hit_template": "preference-summarization",
    }
    return as_by_people(kept("walk: preference", lambda: run_board(who, **human)))


def many(who: dict, n: int = 300) -> Task:
    """Make systems by hundreds, of which nobody keeps the ratings."""
    task = make_task("many", title="Many", n_instances=8, sample_size=8)
    team = make_team("Team of many", who["submitter"])
    make_many_ranked(task, n, team=team, owner=who["submitter"])
    Score.objects.filter(submission__task=task).update(n=8)
    return task


def full(who: dict) -> Task:
    """Add to a board of our own what hangs on a task: every state, every question."""
    task = own(who)
    systems = list(task.submissions.order_by("pk"))
    team, owner = systems[0].team, who["submitter"]
    here = {"team": team, "owner": owner}
    for state in Submission.State:
        if state not in {"PUBLISHED", "SCORED", "ANNOTATED"}:
            made = make_submission(task, system=f"At {state}", state=state, **here)
            made.file.save("at.json", ContentFile(b"{}"))
            if state == "ANNOTATING":
                evaluation = make_evaluation(made, n=6)
                answer(evaluation.subjects.first().item, make_worker())
    comparison.request(
        systems[0], systems[1], Question("overall", max_pairs=20), by=who["submitter"]
    )
    joint.request(systems[:3], by=who["boss"], n_instances=6, n_workers=2)
    metric = OutsideMetric.objects.create(
        task=task,
        owner=owner,
        name="MyScore",
        file_name="scores.csv",
        file_sha256="0" * 64,
        file_format="csv",
        by_instance=False,
        published_at=timezone.now(),
    )
    for place, system in enumerate(systems):
        OutsideScores.objects.create(metric=metric, submission=system, value=place)
    MetricRun.objects.get_or_create(task=task, metric="meteor")
    judge = define.make("words", "1", {"endpoint": "scripted", "model": "words"})
    ask.ask(judge, task, ask.Wish(), by=who["boss"])
    for name in ("boss", "view_staff"):
        rows = csv_of(rows_of(2, 4, 1, ("overall",), texts=True))
        file = ContentFile(rows.encode(), name="ours.csv")
        title = f"Draft of {name}"
        slug = f"of-{name[:4]}"
        draft = keep.begin(owner=who[name], slug=slug, title=title, files=[file])
        criteria = [["overall", "The answer is correct.", False]]
        said = {"source_language": "en", "target_language": "en"}
        keep.keep(draft, asked={"criteria": criteria, **said})
    return task


def asked(kind: str):
    """Run a comparison or a joint evaluation of a board's systems to its end."""

    def make(who):
        task = simulated(who)
        ask_people(kind, task, who)
        return as_by_people(task)

    return lambda who: kept(f"walk: {kind}", lambda: make(who))


def ask_people(kind: str, task: Task, who: dict) -> None:
    a, b, *rest = task.submissions.order_by("pk")
    if kind == "joint":
        found = joint.request([a, b, *rest], by=who["boss"], n_instances=6, n_workers=2)
    else:
        question = Question("overall", max_pairs=20)
        found = comparison.request(a, b, question, by=who["boss"])
    decide.approve(found, by=who["boss"])
    settle()
    crowd = crowd_of(task)
    for _ in range(8):
        crowd.work()
        settle()
        found.refresh_from_db()
        if found.finished_at:
            break
    assert found.finished_at


def changed(**fields):
    """Take a board of our own and change its second system."""

    def make(who):
        task = own(who)
        second = task.submissions.order_by("pk")[1]
        Submission.objects.filter(pk=second.pk).update(**fields)
        settle()
        return task

    return make


def withdrawn(*places: int):
    def make(who):
        task = own(who)
        client = Client()
        client.force_login(who["submitter"])
        for submission in list(task.submissions.order_by("pk")):
            if submission.pk in [
                task.submissions.order_by("pk")[place].pk for place in places
            ]:
                address = f"/submissions/{submission.pk}/withdraw/"
                assert client.post(address, {"confirmed": "yes"}).status_code == 302
                assert _now(submission).state == "WITHDRAWN"
        settle()
        return task

    return make


def without_metrics(who) -> Task:
    task = own(who)
    config = {**task.config, "metrics": {"use": [], "headline": []}}
    Task.objects.filter(pk=task.pk).update(config=config)
    MetricResult.objects.filter(submission__task=task).delete()
    return Task.objects.get(pk=task.pk)


def provisional(who) -> Task:
    task = own(who)
    Score.objects.filter(submission__task=task).update(provisional=True)
    return task


def closed(who) -> Task:
    task = own(who)
    Task.objects.filter(pk=task.pk).update(accepts_submissions=False)
    return Task.objects.get(pk=task.pk)


def waiting(who) -> Task:
    """Let people be at work on the only system: nothing is published yet."""
    task = make_task("waiting", title="Waiting")
    team = make_team("Team of one", who["submitter"])
    made = make_submission(
        task, team=team, owner=who["submitter"], system="Tern", state="ANNOTATING"
    )
    evaluation = make_evaluation(made)
    answer(evaluation.subjects.first().item, make_worker())
    assert Campaign.own.filter(state="RUNNING").exists()
    return task


KINDS: dict[str, Callable[[], World]] = {}


def _kind(name: str, make: Callable[[dict], Task], **more) -> None:
    KINDS[name] = lambda: world(name, make, **more)


_kind("own", own)
_kind("simulated", simulated)
_kind("imported with texts", imported(texts=True))
_kind("imported without texts", imported(), has_texts=False)
_kind("without metrics", without_metrics)
_kind("one system", imported(1), has_texts=False)
_kind("none", lambda who: make_task("empty", title="Empty"))
_kind("24 systems", imported(24, texts=True))
_kind("300 systems", many, has_texts=False)
_kind("two-choice", two_choice, has_texts=False)
_kind("preference", preference)
_kind("joint", asked("joint"))
_kind("comparison", asked("comparison"))
_kind("pages", pages(lambda rng, s: min(6, 2 + s + rng.randint(0, 2))), has_texts=False)
_kind(
    "magnitudes",
    pages(lambda rng, s: round(60 * (s + 1) * rng.uniform(0.8, 1.4))),
    has_texts=False,
)
_kind("conversations", conversations)
_kind("provisional", provisional)
_kind("withdrawn", withdrawn(1))
_kind("all withdrawn", withdrawn(0, 1, 2))
_kind("private", changed(visibility="PRIVATE"), hidden=("Crow",))
_kind("anonymous", changed(anonymous_until=timezone.localdate() + timedelta(days=400)))
_kind("closed", closed)
_kind("waiting", waiting)
_kind("two versions", two_versions, has_texts=False)
_kind("two criteria", imported(criteria=("fluency", "truth")), has_texts=False)
_kind("full", full)
