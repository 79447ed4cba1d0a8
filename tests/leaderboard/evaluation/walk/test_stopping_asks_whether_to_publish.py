"""What becomes of a submission whose campaign staff stop before it is finished."""

from __future__ import annotations

import pytest

from crowd.campaigns.services import run
from crowd.models import Campaign, Commitment
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.boards.selectors.standings import standings
from leaderboard.demo import people
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Score
from tests.kept import kept
from tests.leaderboard.evaluation.walk.test_ends_of_campaigns import now, settle, spent

pytestmark = pytest.mark.django_db


@pytest.fixture
def begun(hand_in, good, boss, task, quality):
    """Give a submission that people have judged in part."""

    def judged_in_part():
        submission = hand_in(good, simulated=True)
        jobs.drain()
        decide.approve(submission, by=boss, start_now=True)
        settle()
        diligent = [p for p in people.players([task.slug]) if p.habit == DILIGENT]
        crowd = Crowd(diligent, quality=quality, seed=1)
        # the first HITs of a worker are mostly test questions
        for player in 3 * diligent:
            crowd.do_hit(player)
        return submission

    return kept("judged in part", judged_in_part)


def stop(boss, **decided) -> None:
    run.stop(Campaign.objects.get().pk, boss, "The texts are wrong.", **decided)
    settle()


@pytest.mark.parametrize("decided", [{"publish": False}, {}])
def test_what_was_stopped_is_not_published_unless_somebody_says_so(
    begun, boss, task, client, decided
):
    stop(boss, **decided)
    found = now(begun)
    assert (found.state, found.failure, found.published_at) == ("STOPPED", "", None)
    assert "publish no result" in found.events.last().sentence
    assert not Score.objects.exists()
    assert len(standings(task)) == 0
    assert Commitment.objects.get().amount_cents == spent()
    settle()
    assert now(begun).state == "STOPPED"
    client.force_login(begun.owner)
    page = client.get(f"/submissions/{begun.pk}/").content.decode()
    assert "Stopped" in page


def test_a_partial_result_is_published_without_a_rank(begun, boss, task):
    stop(boss, publish=True)
    assert now(begun).state == "PUBLISHED"
    (row,) = standings(task)
    assert row.human is not None
    assert (row.rank_first, row.rank_last) == (None, None)
    assert str(row.partial) == f"stopped at {row.human.n} of {task.sample_size}"


def test_staff_publish_later_what_they_did_not_publish_at_once(
    begun, boss, task, client
):
    stop(boss, publish=False)
    client.force_login(boss)
    page = f"/admin/leaderboard/submission/{begun.pk}/"
    assert "Publish partial result" in client.get(f"{page}change/").content.decode()
    client.post(f"{page}publish-partial/", {"confirmed": "yes", "reason": "It helps."})
    settle()
    found = now(begun)
    assert found.state == "PUBLISHED"
    said = list(found.events.values_list("sentence", flat=True))
    assert "Staff decided to publish the partial result: It helps." in said
    with pytest.raises(GenieError, match="only a submission that was stopped"):
        decide.publish_partial(begun, by=boss, reason="Again.")
