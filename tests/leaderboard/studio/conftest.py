"""Somebody who may make tasks, and their browser."""

import pytest

from tests.cast import allow
from tests.factories import make_user

MAY = ["leaderboard.add_task", "leaderboard.change_submission", "crowd.add_invitation"]


@pytest.fixture
def maker(db):
    user = make_user("mia", is_staff=True)
    allow(user, *MAY)
    return user


@pytest.fixture
def mia(maker, client):
    client.force_login(maker)
    return client
