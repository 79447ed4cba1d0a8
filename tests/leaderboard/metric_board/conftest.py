"""A small task, its systems and its metrics, made through the product's own services."""

import io
import json
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from django.contrib.auth import get_user_model

from genie.lib import jobs
from leaderboard.metric_board import services
from leaderboard.models import MetricBoard, Task
from leaderboard.submissions.services import submit
from leaderboard.tasks.services import load
from tests.factories import make_task
from tests.kept import kept
from tests.leaderboard.metric_board.judged import judged_system, measured


def use_metrics(task, *slugs, **parameters):
    config = deepcopy(task.config)
    config["metrics"] = {"use": list(slugs), "headline": list(slugs[:1]), **parameters}
    config["quota"] = {"submissions": 50, "days": 7}
    Task.objects.filter(pk=task.pk).update(config=config)
    task.refresh_from_db()
    return task


@pytest.fixture
def task(db):
    return use_metrics(load.load_task("demo-qa").task, "chrf", "length")


@pytest.fixture
def sam(db):
    return get_user_model().objects.create_user("sam")


@pytest.fixture
def system(task, sam):
    """Hand in a system whose outputs a function of the instance gives; measure it."""

    def hand_in(name, output, *, owner=sam, **fields):
        texts = {row.instance_id: output(row) for row in task.instances.all()}
        submission = submit.receive(
            task=task,
            owner=owner,
            team=submit.team_for(owner),
            system_name=name,
            file=io.BytesIO(json.dumps(texts).encode()),
            file_name="predictions.json",
            **fields,
        )
        jobs.drain()
        submission.refresh_from_db()
        assert submission.state == "MEASURED", submission.errors
        return submission

    return hand_in


@pytest.fixture
def two(system, task):
    return kept(
        "right and chatty",
        lambda: (
            system("Right", lambda row: row.references[0]),
            system(
                "Chatty", lambda row: f"Well, I think it is {row.references[0]} or so."
            ),
        ),
        task.config,
    )


@pytest.fixture
def world(cast):
    """Six judged systems of one task, a metric that follows people and one that errs."""
    task, *systems = kept("six judged systems", lambda: six_systems(cast))
    rng = np.random.default_rng(6)
    return SimpleNamespace(task=task, systems=systems, rng=rng)


def six_systems(cast):
    task = make_task(
        n_instances=40,
        sample_size=25,
        config={"metrics": {"use": ["chrf", "ter", "length"], "headline": ["chrf"]}},
    )
    rng = np.random.default_rng(5)
    systems = []
    for k, name in enumerate(["Heron", "Kestrel", "Wren", "Sparrow", "Swift", "Owl"]):
        found = judged_system(
            task,
            0.3 + 0.1 * k,
            team=cast.team,
            owner=cast.submitter,
            n_judged=25,
            rng=rng,
            name=name,
        )
        measured(found, "chrf", 60 * found.test_level + rng.normal(0, 2, 40))
        # an error rate that knows little: lower is better
        measured(found, "ter", 50 - 8 * found.test_level + rng.normal(0, 9, 40))
        measured(found, "length", np.ones(40))
        systems.append(found)
    return task, *systems


@pytest.fixture
def board(world):
    """The world's metric board, computed by its job."""

    def computed():
        services.refresh(world.task)
        jobs.drain()
        return MetricBoard.objects.get()

    return kept("the board of six systems", computed)
