import pytest

from tests.leaderboard.boards.pages.judged import three_systems
from tests.leaderboard.site.conftest import *  # noqa: F403
from tests.leaderboard.site.conftest import _fresh  # noqa: F401


@pytest.fixture
def judged(team, submitter):
    return three_systems(team, submitter)
