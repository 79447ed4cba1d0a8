"""Two systems of one task, people who read them, and a question about both."""

import pytest

from leaderboard import demo
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services import joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Comparison, Task
from leaderboard.tasks.services import load
from tests.kept import kept
from tests.leaderboard.evaluation.steps import (
    hand_in,
    references_of,
    send_out,
    work_until,
)


def config_with(task, **comparison):
    quota = {"submissions": 20, "days": 7}
    metrics = {"use": ["length"], "headline": ["length"]}
    changed = {"comparison": comparison, "quota": quota, "metrics": metrics}
    config = {**task.config, **changed}
    Task.objects.filter(pk=task.pk).update(config=config)
    task.refresh_from_db()
    return task


@pytest.fixture
def task(db):
    task = load.load_task("demo-qa").task
    # few test questions: the instances are for pairs
    return config_with(
        task,
        positive_share=0.05,
        negative_share=0.05,
        reward_cents=4,
        expected_seconds=9,
        wave_size=8,
    )


@pytest.fixture
def system(task, sam):
    """Hand in a system whose outputs a function of the instance gives."""

    def made(name, output):
        texts = {row.instance_id: output(row) for row in task.instances.all()}
        submission = hand_in(task, sam, name, texts)
        assert submission.state == "MEASURED", submission.errors
        return submission

    return made


@pytest.fixture
def right(system, task):
    return kept(
        "right", lambda: system("Right", lambda row: row.references[0]), task.config
    )


@pytest.fixture
def wrong(system, task):
    def nothing(row):
        return f"Nobody knows about {row.instance_id}."

    return kept("wrong", lambda: system("Wrong", nothing), task.config)


@pytest.fixture
def level(system, task):
    return kept(
        "level",
        lambda: (
            system("One", lambda row: f"I think: {row.references[0]}"),
            system("Other", lambda row: f"I believe: {row.references[0]}"),
        ),
        task.config,
    )


@pytest.fixture
def people(task):
    references = references_of(task)

    def of_text(item, text):
        return 0.95 if text in references[item.content_key] else 0.15

    players = [p for p in demo.players([task.slug]) if p.habit == DILIGENT]

    def made(n):
        return Crowd(players[:n], quality=lambda _item: 0.5, of_text=of_text, seed=11)

    return made


@pytest.fixture
def crowd(people):
    return people(5)


@pytest.fixture
def ask(boss):
    def asked(a, b, question):
        found = send_out(
            compare.request(a, b, Question("overall", **question), by=boss), boss
        )
        return Comparison.objects.get(pk=found.pk)

    def run(a, b, **question):
        # the crowd is too small for the default rule
        question = {"rule": "beta-mixture", **question}
        given = (a.pk, b.pk, question, Task.objects.get(pk=a.task_id).config)
        return kept("asked", lambda: asked(a, b, question), given)

    return run


@pytest.fixture
def finish(crowd):
    return lambda found: work_until(crowd, found, lambda row: row.is_over, rounds=12)


@pytest.fixture
def told_apart(right, wrong, ask, finish, task):
    def ended():
        return finish(ask(right, wrong, max_pairs=40))

    return kept("told apart", ended, task.config)


@pytest.fixture
def as_good(level, ask, finish, task):
    return kept("as good", lambda: finish(ask(*level, max_pairs=16)), task.config)


@pytest.fixture
def judged(boss, crowd):
    def ended(systems, question):
        found = joint.request(
            systems, by=boss, **{"n_instances": 10, "n_workers": 2, **question}
        )
        send_out(found, boss)
        return work_until(crowd, found, lambda row: row.state == "SCORED")

    def run(systems, **question):
        config = Task.objects.get(pk=systems[0].task_id).config
        given = ([one.pk for one in systems], question, config)
        return kept("judged", lambda: ended(systems, question), given)

    return run


@pytest.fixture
def three(right, wrong, level):
    return [wrong, right, level[0]]


@pytest.fixture
def ranked(three, judged):
    return judged(three)
