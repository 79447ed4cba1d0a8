"""Anchors are outputs on judged inputs: few workers complete a campaign all the same."""

import pytest

from leaderboard.evaluation.selectors.ranked_scores import Anchor
from leaderboard.models import AnchorItem, Prediction
from tests.factories import make_predictions, make_submission, make_team, make_user
from tests.leaderboard.evaluation.hidden.test_inside_the_sample import (
    answer_all,
    lift_shares,
)
from tests.leaderboard.evaluation.steps import settle


@pytest.fixture
def anchored(task_with, launched, monkeypatch):
    """Send a campaign out that carries three outputs of another system."""

    def launch(**human):
        task, user = task_with(n=12, sample_size=6, **human), make_user("ada")
        team = make_team("Anchors", user)
        other = make_submission(task, system="Anchor", team=team, owner=user)
        make_predictions(other)
        outputs = Prediction.objects.filter(
            submission=other, instance__sample_rank__lt=task.sample_size
        )
        anchor = Anchor(other, outputs.select_related("instance"), 3)
        where = "leaderboard.evaluation.strategies.single_system.anchor_for"
        monkeypatch.setattr(where, lambda evaluation: anchor)
        _, campaign = launched(task)
        assert AnchorItem.objects.count() == 3
        return task, campaign

    return launch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_workers", "n_ratings", "exposure"),
    [pytest.param(1, 1, "task", marks=pytest.mark.every_engine), (3, 3, "campaign")],
)
def test_few_workers_complete_a_campaign_with_anchors(
    anchored, worker_of, admin_user, n_workers, n_ratings, exposure
):
    task, campaign = anchored(ratings_per_instance=n_ratings, exposure=exposure)
    lift_shares(campaign, admin_user)
    workers = [worker_of(task, f"worker-{n}") for n in range(n_workers)]
    for _ in range(4):
        answer_all(*workers)
        settle()
    campaign.refresh_from_db()
    assert (campaign.state, campaign.notice) == ("COMPLETE", "")
    answers = AnchorItem.objects.values_list("item__hit__assignments", flat=True)
    assert len(set(answers) - {None}) == 3 * n_ratings
