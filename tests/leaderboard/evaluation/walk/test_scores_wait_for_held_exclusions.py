"""While exclusions wait for a person nothing is scored, and no answer is lost."""

from leaderboard.boards.selectors.submission_progress import submission_progress
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.models import Score
from leaderboard.submissions.selectors import visible_parts
from quality.bans import services
from tests.leaderboard.evaluation.comparisons.test_comparisons_stop_by_themselves import (
    hold_somebody,
)
from tests.leaderboard.evaluation.steps import now, settle


def test_after_a_refusal_the_score_counts_everybody(
    annotating, diligent, quality, boss, task
):
    held = hold_somebody(task.slug)
    Crowd(diligent, quality=quality, seed=1).work()
    settle()
    found = now(annotating)
    assert found.state == "ANNOTATING"
    parts = visible_parts(found, boss)
    told = submission_progress(found, found.human_evaluation, parts)
    assert told.waits_for.startswith("Waits for staff to decide whether to exclude")
    assert not Score.own.exists()
    services.refuse(held.pk, by=boss, reason="The key is wrong.")
    settle()
    assert now(annotating).state == "PUBLISHED"
    assert Score.own.get().n == 12
