"""Test questions take the place of outputs: the sample tells nothing."""

import pytest

from crowd.campaigns.services import run, work
from crowd.models import Assignment, Commitment, Item
from quality.models import TestQuestion
from tests.leaderboard.evaluation.steps import settle

ENDED = "COMPLETE"


def asked_of(campaign):
    return Item.objects.filter(
        pk__in=TestQuestion.own.filter(campaign=campaign).values("item")
    )


def answer_all(*workers):
    n = 0
    while True:
        taken = [work.next_assignment(worker) for worker in workers]
        for assignment in filter(None, taken):
            items = assignment.hit.items.all()
            wrong = TestQuestion.own.filter(item__in=items, polarity="NEGATIVE")
            says = {"overall": "0" if wrong.exists() else "1"}
            work.submit(assignment, {item.key: says for item in items})
            n += 1
        if not any(taken):
            return n


def lift_shares(campaign, by):
    run.lift_share(campaign.pk, by, "Few workers.")


def test_the_sample_tells_nothing(task_with, launched):
    task = task_with()
    _, campaign = launched(task)
    asked = asked_of(campaign)
    # nothing is known to be good but public references
    assert asked.count() == 4
    # each of another instance, in the place of an output
    keys = set(campaign.items.values_list("content_key", flat=True))
    assert len(keys) == campaign.items.count() == task.sample_size + 4


def test_campaigns_test_on_other_instances_as_their_seeds_decide(task_with, launched):
    task = task_with()
    first, second = (launched(task, name)[1] for name in ("Kite", "Gull"))
    keys = [set(asked_of(c).values_list("content_key", flat=True)) for c in (first, second)]  # fmt: skip
    assert keys[0] != keys[1]


# others with anchors: test_anchors_with_few_workers
@pytest.mark.parametrize(("n_workers", "exposure"), [(1, "campaign")])
def test_few_workers_complete_a_campaign(
    task_with, launched, worker_of, admin_user, n_workers, exposure
):
    task = task_with(n=20, sample_size=10, exposure=exposure)
    submission, campaign = launched(task)
    lift_shares(campaign, admin_user)
    workers = [worker_of(task, f"worker-{n}") for n in range(n_workers)]
    for _ in range(3):
        answer_all(*workers)
        settle()
    campaign.refresh_from_db()
    assert (campaign.state, campaign.notice) == (ENDED, "")
    submission.refresh_from_db()
    assert (submission.state, submission.work.failure) == ("PUBLISHED", "")
    score = submission.scores.get(superseded_at=None)
    assert score.n == task.sample_size


@pytest.mark.every_engine
def test_leftover_tests_are_closed_and_their_money_is_freed(
    task_with, launched, worker_of, admin_user
):
    task = task_with(n=20, sample_size=10, double_share=0)
    _, campaign = launched(task)
    lift_shares(campaign, admin_user)
    tests = campaign.hits.filter(items__in=asked_of(campaign))
    tests.update(n_available=0)
    answer_all(worker_of(task))
    tests.update(n_available=1)
    settle()
    campaign.refresh_from_db()
    assert campaign.state == ENDED
    n = Assignment.own.count()
    assert n == task.sample_size
    assert not campaign.hits.filter(n_available__gt=0).exists()
    spent = n * campaign.hit_type.reward_cents
    for commitment in Commitment.own.filter(key=campaign.key):
        assert commitment.amount_cents == spent
