"""While exclusions wait for a person nothing is scored, and no answer is lost."""

import pytest

from crowd.campaigns.services import run
from crowd.models import Assignment
from leaderboard import demo
from leaderboard.boards.selectors.submission_progress import submission_progress
from leaderboard.evaluation.services.simulate import AGREEABLE, DILIGENT, Crowd
from leaderboard.submissions.selectors import visible_parts
from quality.bans import services
from quality.bans.selectors import clean_ratings
from quality.models import Ban, HeldExclusion
from tests.kept import kept
from tests.leaderboard.evaluation.steps import ask, launch, now, settle


@pytest.fixture
def crowd(task, quality):
    ask(task, negative_share=0.75)
    players = demo.players([task.slug])
    careful = [player for player in players if player.habit == DILIGENT]
    careless = [player for player in players if player.habit == AGREEABLE]
    return Crowd([*careful[:3], *careless], quality=quality, seed=3)


@pytest.fixture
def answered(settings, hand_in, good, boss, crowd):
    # counts of test questions alone are enough to be sure of who always agrees
    settings.GENIE = {
        **settings.GENIE,
        "MOST_EXCLUDED": 0,
        "DETECTOR": "rate-guarded-2",
    }

    def work():
        submission = launch(hand_in(good, simulated=True), boss)
        campaign = submission.human_evaluation.campaign
        run.lift_share(campaign.pk, boss, "Four of nine answer everything.")
        for _ in range(14):  # enough to be sure of the one who always agrees
            if not crowd.do_hit(crowd.players[-1]):
                settle()  # paused until the answers have been looked at
        crowd.work()
        settle()
        settle()
        return submission

    return kept("an exclusion is held", work)


def state_of(submission):
    return now(submission).state


def test_a_confirmed_exclusion_sends_work_out_before_the_score(answered, crowd, boss):
    [held] = HeldExclusion.own.all()
    assert state_of(answered) == "ANNOTATING"
    found = now(answered)
    parts = visible_parts(found, boss)
    told = submission_progress(found, found.human_evaluation, parts)
    assert told.waits_for.startswith("Waits for staff to decide whether to exclude")
    assert not Ban.own.exists()
    assert not Assignment.objects.filter(replaced_at__isnull=False).exists()
    campaign = now(answered).human_evaluation.campaign
    assert held.worker_id in set(clean_ratings(campaign)["worker"])
    services.confirm(held.pk, by=boss, reason="Always agrees.")
    settle()
    assert state_of(answered) == "ANNOTATING"
    crowd.work()
    settle()
    settle()
    assert state_of(answered) == "PUBLISHED"
    assert held.worker_id not in set(clean_ratings(campaign)["worker"])


def test_after_a_refusal_the_score_counts_everybody(answered, boss):
    [held] = HeldExclusion.own.all()
    services.refuse(held.pk, by=boss, reason="The key is wrong.")
    settle()
    settle()
    assert state_of(answered) == "PUBLISHED"
    campaign = now(answered).human_evaluation.campaign
    assert held.worker_id in set(clean_ratings(campaign)["worker"])
