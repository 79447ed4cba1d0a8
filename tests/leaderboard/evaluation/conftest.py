"""The task, its boss and a submitter of most tests of evaluations."""

import pytest
from django.contrib.auth import get_user_model

from leaderboard.tasks.services import load


@pytest.fixture
def task(db):
    return load.load_task("demo-qa").task


@pytest.fixture
def sam(db):
    return get_user_model().objects.create_user("sam")


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("boss")
