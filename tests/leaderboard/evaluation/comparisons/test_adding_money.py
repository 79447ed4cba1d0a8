"""Money added to comparisons and joint evaluations at work, whose answers were lost."""

import pytest
from django.urls import reverse

from crowd.campaigns.services.add_money import add_money
from crowd.campaigns.services.more_answers import ask_for_more, price_answers
from crowd.models import Assignment, Campaign, Commitment
from leaderboard.evaluation.services import joint
from leaderboard.models import JointEvaluation
from quality.bans import services
from tests.leaderboard.evaluation.steps import ask, send_out, settle, spent
from tests.refusals import refusal


@pytest.fixture(autouse=True)
def _no_reserve(task):
    human = {**task.config["human"], "repost_share": 0.0}
    task.config = {**task.config, "human": human}
    task.save()


def robbed(crowd, boss, task):
    """Let one worker answer what they get, and be banned; give the campaign."""
    campaign = Campaign.own.get()
    for _ in range(4):
        crowd.do_hit(crowd.players[0])
    lost = crowd.players[0].worker
    del crowd.players[0]
    n = lost.assignments.filter(state="SUBMITTED").count()
    # all that is left of the budget, so that nothing of it is free to ask again
    Campaign.own.update(budget_cents=campaign.hits.count() * _n_each(campaign))
    services.ban(lost, task.slug, by=boss, reason="Careless.")
    campaign.refresh_from_db()
    return campaign, n


def pay(campaign, n, boss):
    cents = n * campaign.hit_type.reward_cents
    seen = campaign.budget_cents
    assert (
        add_money(campaign.pk, cents, budget_cents=seen, by=boss, reason="Lost.") == n
    )


def _n_each(campaign):
    hit = campaign.hits.first()
    return hit.max_assignments * campaign.hit_type.reward_cents


def test_a_joint_evaluation_finishes_with_all_its_judgements_and_says_of_more(
    right, wrong, level, boss, crowd, task, client
):
    ask(task, double_share=0)
    found = send_out(
        joint.request([right, wrong, level[0]], by=boss, n_instances=5), boss
    )
    campaign, n = robbed(crowd, boss, task)
    assert campaign.notice.startswith(f"{n} answers")
    pay(campaign, n, boss)
    campaign.refresh_from_db()
    fields = {"shown": 1, "agreed_cents": price_answers(campaign, 1).cents, "by": boss}
    ask_for_more(campaign.pk, 1, **fields, reason="Few.")
    for _ in range(4):
        crowd.work()
        settle()
    found = JointEvaluation.objects.get(pk=found.pk)
    assert found.state == "SCORED", found.failure
    assert found.results["criteria"]["quality"]["n_judgements"] == 10
    assert found.workers_each == [2]
    assert Commitment.own.get().amount_cents == spent()
    client.force_login(boss)
    page = client.get(reverse("leaderboard:joint", args=[found.pk])).text
    assert "5 instances, 2 raters per instance" in page


def test_comparisons_go_on_and_settle_all(ask, right, wrong, finish, boss, crowd, task):
    found = ask(right, wrong, delta=0.3)
    campaign, n = robbed(crowd, boss, task)
    pay(campaign, n, boss)
    assert Assignment.own.filter(replaced_at__isnull=False).count() == n
    found = finish(found)
    assert found.is_over
    account = Commitment.own.get()
    assert account.settled_at is not None
    assert account.amount_cents == spent()


def test_a_comparison_asks_by_itself(ask, right, wrong):
    ask(right, wrong)
    with refusal("asks-by-itself"):
        price_answers(Campaign.own.get(), 1)
