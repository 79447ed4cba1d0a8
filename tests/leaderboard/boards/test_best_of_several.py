"""A team's attempts are counted in public, and its best score is shown as the best of them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.boards.selectors.rows import standings
from leaderboard.models import Submission
from tests.factories import (
    make_ranked,
    make_submission,
    make_task,
    make_team,
    make_user,
)


@pytest.fixture
def mine():
    ada = make_user("ada")
    return {"team": make_team("Herons", ada), "owner": ada}


@pytest.fixture
def best(mine):
    task = make_task()
    best = make_ranked(task, 70, 2.0, system="Kite", **mine)
    make_ranked(task, 64, system="Wren", **mine)
    make_ranked(task, 90, system="Owl", visibility="PRIVATE", **mine)
    gone = make_ranked(task, 60, system="Gull", **mine)
    Submission.objects.filter(pk=gone.pk).update(own_state="WITHDRAWN")
    make_submission(task, system="Measured", **mine)
    make_submission(task, system="Broken", state=Submission.State.INVALID, **mine)
    return best


def tags(task):
    return {row.system: row.best_of for row in standings(task)}


def attempts(client, submission):
    return client.get(f"/api/v1/submissions/{submission.pk}/").json()["attempts"]


def test_the_best_is_shown_as_the_best_of_all_that_were_rated(best, client):
    assert tags(best.task)["Kite"] == 4
    assert tags(best.task)["Wren"] is None
    assert "best of 4" in client.get(f"/tasks/{best.task.slug}/").content.decode()
    page = client.get(f"/submissions/{best.pk}/").content.decode()
    assert "Best of 4." in page
    assert "made 5 attempts on this task, and 4 of them have been rated" in page
    # 70 ± 2 · 2.491 / 1.960
    assert "[67.5, 72.5]" in page
    told = attempts(client, best)
    assert (told["n"], told["n_rated"], told["is_best"]) == (5, 4, True)
    assert (told["low"], told["high"]) == pytest.approx((67.46, 72.54), abs=0.01)


def test_what_is_not_the_best_is_counted_and_not_corrected(best, client):
    wren = Submission.objects.get(system_name="Wren")
    page = client.get(f"/submissions/{wren.pk}/").content.decode()
    assert "4 of them have been rated" in page
    assert "Best of" not in page
    assert attempts(client, wren) == {
        "n": 5, "n_rated": 4, "is_best": False, "low": None, "high": None,
    }  # fmt: skip


def test_an_only_attempt_says_so_and_ties_are_both_the_best(mine, client):
    task = make_task()
    one = make_ranked(task, 70, system="Kite", **mine)
    assert tags(task) == {"Kite": None}
    page = client.get(f"/submissions/{one.pk}/").content.decode()
    assert "The team’s only attempt on this task." in page
    assert attempts(client, one)["is_best"] is False
    make_ranked(task, 70, 0.0, system="Wren", **mine)
    assert tags(task) == {"Kite": 2, "Wren": 2}
    exact = Submission.objects.get(system_name="Wren")
    told = attempts(client, exact)
    assert (told["low"], told["high"]) == (70.0, 70.0)


def test_an_interval_does_not_leave_the_scale(mine, client):
    task = make_task()
    top = make_ranked(task, 99, 1.0, system="Kite", **mine)
    make_ranked(task, 64, system="Wren", **mine)
    assert attempts(client, top)["high"] == 100.0


def test_an_anonymous_team_is_not_known_by_its_number(best, client):
    tomorrow = timezone.localdate() + timedelta(days=1)
    Submission.objects.filter(pk=best.pk).update(anonymous_until=tomorrow)
    assert tags(best.task)["Kite"] is None
    assert attempts(client, best) is None
    page = client.get(f"/submissions/{best.pk}/").content.decode()
    assert "attempts on this task" not in page

    # nor by what it takes from another system of the team
    assert tags(best.task)["Wren"] == 4
    wren = Submission.objects.get(system_name="Wren")
    assert attempts(client, wren)["is_best"] is True
