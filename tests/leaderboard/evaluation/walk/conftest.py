"""A small task and its people, made through the product's own services."""

import io
import json

import pytest

from leaderboard.designs.base import content_key
from leaderboard.models import Instance
from leaderboard.submissions.services import submit


@pytest.fixture
def ids(task):
    return list(task.instances.values_list("instance_id", flat=True))


@pytest.fixture
def hand_in(task, sam):
    """Hand in a file: bytes, or texts by id."""

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
