"""A small task asked in any design, with simulated workers who read well."""

from copy import deepcopy

import pytest

from leaderboard import demo
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Task
from tests.leaderboard.evaluation.steps import (
    hand_in,
    launch,
    references_of,
    work_until,
)

# the outputs that are rated
N = 8


@pytest.fixture
def task(task):
    """Compute no metric that takes long: what counts here are people."""
    metrics = {"use": ["length"], "headline": ["length"]}
    task.config = {**task.config, "metrics": metrics}
    task.save()
    return task


@pytest.fixture
def ask(task):
    def change(**human):
        config = deepcopy(task.config)
        config["human"] |= {"sample_size": N, **human}
        Task.objects.filter(pk=task.pk).update(config=config)
        task.refresh_from_db()
        return task

    return change


@pytest.fixture
def of_text(task):
    """Read a text: a reference of its own input is good, anything else is not."""
    references = references_of(task)

    def read(item, text):
        return 0.9 if text in references[item.content_key] else 0.1

    return read


@pytest.fixture
def texts(task):
    rows = list(task.instances.order_by("sample_rank"))

    def make(share):
        n_right = round(share * N)
        right = {row.instance_id for row in [*rows[:n_right], *rows[N:]]}
        return {
            row.instance_id: row.references[0]
            if row.instance_id in right
            else rows[index - 1].references[0]
            for index, row in enumerate(rows)
        }

    return make


@pytest.fixture
def measured(task, texts, sam):
    def made(name, share, *, simulated=True):
        return hand_in(task, sam, name, texts(share), simulated=simulated)

    return made


@pytest.fixture
def crowd(task, of_text):
    players = [p for p in demo.players([task.slug]) if p.habit == DILIGENT]
    return Crowd(
        players,
        quality=lambda item: of_text(item, item.data["prediction"]),
        of_text=of_text,
        seed=5,
    )


@pytest.fixture
def published(measured, boss, crowd):
    """Take a system all the way: handed in, approved, judged, on the board."""

    def walk(name, share):
        submission = launch(measured(name, share), boss)
        return work_until(crowd, submission, lambda row: row.state == "PUBLISHED")

    return walk
