import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from leaderboard.models import Submission
from tests.factories import make_predictions, make_submission, make_task

LIST = "/admin/leaderboard/submission/"


@pytest.fixture
def task(db):
    return make_task("tidy-news", n_instances=20, sample_size=20)


@pytest.fixture
def boss(request):
    client = Client()
    client.force_login(request.getfixturevalue("superuser"))
    return client


@pytest.fixture
def waiting(request, task):
    people = request.getfixturevalue("cast")

    def make(system="Kite", **fields):
        submission = make_submission(
            task, team=people.team, owner=people.submitter, system=system, **fields
        )
        make_predictions(submission)
        return submission

    return make


def fields_of(text):
    """Read the hidden fields of the last form of a page, as a browser would send them."""
    form = text[text.rindex('<form method="post"') :]
    found = {}
    for tag in re.findall(r"<input[^>]*type=\"hidden\"[^>]*>", form):
        name = re.search(r'name="([^"]+)"', tag)[1]
        value = re.search(r'value="([^"]*)"', tag)
        found.setdefault(name, []).append(value[1] if value else "")
    return found


def act(client, action, *submissions):
    """Choose an action for rows of the list, as the list's form does."""
    return client.post(
        LIST, {"action": action, "_selected_action": [s.pk for s in submissions]}
    )


def confirm(client, page, path=LIST, **fields):
    return client.post(path, {**fields_of(page.text), **fields}, follow=True)


def history(submission):
    return [
        entry.get_change_message()
        for entry in LogEntry.objects.filter(object_id=str(submission.pk))
    ]


def state_of(submission):
    return Submission.objects.get(pk=submission.pk).state
