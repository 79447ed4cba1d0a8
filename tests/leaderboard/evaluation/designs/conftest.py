"""A small task asked in any design, with simulated workers who read well."""

import io
import json
from copy import deepcopy

import pytest
from django.contrib.auth import get_user_model

from genie.lib import jobs
from leaderboard.demo import people
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Instance, Submission, Task
from leaderboard.submissions.services import submit
from tests.leaderboard.evaluation.steps import settle


@pytest.fixture
def ask(task):
    """Change how the task's people are asked."""

    def change(**human):
        config = deepcopy(task.config)
        config["human"] |= {"sample_size": 12, **human}
        Task.objects.filter(pk=task.pk).update(config=config)
        task.refresh_from_db()
        return task

    return change


@pytest.fixture
def references(task):
    return {
        content_key(task.slug, row.instance_id): set(row.references)
        for row in Instance.objects.filter(task=task)
    }


@pytest.fixture
def of_text(references):
    """Read a text: a reference of its own input is good, anything else is not."""

    def read(item, text):
        return 0.9 if text in references[item.content_key] else 0.1

    return read


@pytest.fixture
def texts(task):
    """Give predictions of which a share is right, the others somebody else's."""
    rows = list(task.instances.order_by("sample_rank"))

    def make(share):
        n_right = round(share * 12)
        right = {row.instance_id for row in rows[:n_right]} | {
            row.instance_id for row in rows[12:]
        }
        return {
            row.instance_id: row.references[0]
            if row.instance_id in right
            else rows[index - 1].references[0]
            for index, row in enumerate(rows)
        }

    return make


@pytest.fixture
def measured(task, texts):
    """Hand in a system of which a share of the sample is right."""
    owner = get_user_model().objects.create_user("sam")

    def hand_in(name, share, *, simulated=True):
        submission = submit.receive(
            task=task,
            owner=owner,
            team=submit.team_for(owner),
            system_name=name,
            file=io.BytesIO(json.dumps(texts(share)).encode()),
            file_name="predictions.json",
            simulated=simulated,
        )
        jobs.drain()
        submission.refresh_from_db()
        return submission

    return hand_in


@pytest.fixture
def crowd(task, of_text):
    players = [p for p in people.players([task.slug]) if p.habit == DILIGENT]
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
        submission = measured(name, share)
        decide.approve(submission, by=boss, start_now=True)
        settle()
        for _ in range(4):
            crowd.work()
            settle()
            submission.refresh_from_db()
            if submission.state == Submission.State.PUBLISHED:
                break
        return submission

    return walk
