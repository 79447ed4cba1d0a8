"""A demo is made once: what its visitors decide does not make it again."""

import pytest

from leaderboard import demo
from leaderboard.models import Submission
from tests.factories import make_submission, make_task, make_team, make_user

State = Submission.State
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("state", "complete"),
    [
        (State.RECEIVED, False),
        (State.VALID, False),
        (State.MEASURED, True),
        (State.DECLINED, True),
        (State.ANNOTATING, True),
        (State.WITHDRAWN, True),
    ],
)
def test_a_demo_is_complete_once_its_last_submission_waited(state, complete):
    assert not demo.present()
    owner = make_user("sam")
    make_submission(
        make_task(),
        team=make_team("Heron", owner),
        owner=owner,
        system=demo.SHUFFLED,
        state=state,
    )
    assert demo.present() is complete
