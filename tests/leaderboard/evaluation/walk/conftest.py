"""A small task and its people, made through the product's own services."""

import io
import json

import pytest

from genie.lib import jobs
from leaderboard import demo
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Instance
from leaderboard.submissions.services import submit
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from tests.kept import kept
from tests.leaderboard.evaluation.steps import launch, now, settle


@pytest.fixture
def task(db):
    """Load the demo's questions with a sample of 12: each more is work for no one."""
    document = shipped.definition("demo-qa")
    # outputs here equal public references, which make no other kind of test question
    document["human"] |= {"sample_size": 12, "test_questions": "references"}
    return load.load_definition("demo-qa", document, shipped.data_of("demo-qa")).task


@pytest.fixture
def ids(task):
    return list(task.instances.values_list("instance_id", flat=True))


@pytest.fixture
def hand_in(task, sam):
    def hand(content, *, owner=sam, name="System", **fields):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        return submit.receive(
            task=task,
            owner=owner,
            team=submit.team_for(owner),
            system_name=name,
            file=io.BytesIO(content),
            file_name=fields.pop("file_name", "predictions.json"),
            **fields,
        )

    return hand


@pytest.fixture
def good(task):
    """Predictions that are the references themselves."""
    return {
        instance.instance_id: instance.references[0]
        for instance in task.instances.all()
    }


@pytest.fixture
def quality(task):
    """Somebody who knows the references: a text that is one of them is good."""
    references = {
        content_key(task.slug, row.instance_id): set(row.references)
        for row in Instance.objects.filter(task=task)
    }
    return lambda item: float(item.data["prediction"] in references[item.content_key])


@pytest.fixture
def diligent(task):
    """Register the demo's workers; return those who read what they rate."""
    return [p for p in demo.players([task.slug]) if p.habit == DILIGENT]


@pytest.fixture
def measured(hand_in, good, ids, task):
    """Half of the predictions are right, by position; the others answer something else."""
    half = {key: good[key] if i % 2 else good[ids[i - 2]] for i, key in enumerate(ids)}

    def handed_in():
        submission = hand_in(half, simulated=True)
        jobs.drain()
        return now(submission)

    return kept("measured", handed_in, task.config)


@pytest.fixture
def annotating(measured, boss, diligent, task):
    def approved():
        return now(launch(measured, boss))

    return kept("annotating", approved, task.config)


@pytest.fixture
def begun(annotating, diligent, quality, task):
    def judged_in_part():
        crowd = Crowd(diligent, quality=quality, seed=1)
        # the first HITs of a worker are mostly test questions
        for player in 2 * diligent[:5]:
            assert crowd.do_hit(player)
        return annotating

    return kept("judged in part", judged_in_part, task.config)


@pytest.fixture
def published(annotating, diligent, quality, task):
    def work():
        Crowd(diligent, quality=quality, seed=1).work()
        settle()
        found = now(annotating)
        assert (found.state, found.work.failure) == ("PUBLISHED", "")
        return found

    return kept("published", work, task.config)
