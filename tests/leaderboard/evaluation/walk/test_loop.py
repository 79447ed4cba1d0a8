"""From approval to the board, with workers who answer through the worker site's services."""

import numpy as np
import pytest
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.models import HIT, Assignment, Campaign, Commitment, LedgerEntry
from crowd.money.services import budgets
from genie.lib.seeds import seed_from
from genie.lib.unguessable import seed_for
from leaderboard import demo
from leaderboard.evaluation import decide
from leaderboard.evaluation.price import quote_single
from leaderboard.evaluation.services.simulate import AGREEABLE, Crowd
from leaderboard.models import Score
from quality.bans.selectors import clean_ratings
from quality.models import Ban, TestQuestion
from tests.factories import asked_about
from tests.leaderboard.evaluation.steps import ask, now, settle
from tests.refusals import refusal


@pytest.fixture
def players(task):
    return demo.players([task.slug])


def test_the_cost_shown_is_the_cost_set_aside(measured, boss):
    quote = quote_single(measured.task)
    decide.approve(asked_about(measured), by=boss)
    assert Commitment.own.get().amount_cents == quote.total_cents
    assert sum(line.cents for line in quote.lines) == quote.total_cents
    with refusal("not-approvable"):
        decide.approve(asked_about(measured), by=boss)
    assert Commitment.own.count() == 1


@pytest.mark.every_engine
def test_a_budget_cannot_be_passed(measured, boss, task):
    from crowd.models import Budget

    Budget.objects.filter(pool=task.slug).update(
        limit_cents=quote_single(measured.task).total_cents - 1
    )
    with refusal("over-budget"):
        decide.approve(asked_about(measured), by=boss)
    measured.refresh_from_db()
    assert measured.state == "MEASURED"
    assert Commitment.own.count() == 0


def test_a_campaign_waits_for_its_hour_unless_told_otherwise(measured, boss):
    decide.approve(asked_about(measured), by=boss)
    settle()
    campaign = Campaign.own.get()
    assert campaign.state == "SCHEDULED"
    assert campaign.starts_at > timezone.now()
    assert campaign.starts_at.minute == 0


def test_the_campaign_has_the_subset_and_its_hidden_questions(annotating, task):
    evaluation = annotating.human_evaluation
    judged = evaluation.subjects.count()
    assert judged == task.sample_size == 12
    assert TestQuestion.own.filter(polarity="POSITIVE").count() == 2
    assert TestQuestion.own.filter(polarity="NEGATIVE").count() == 2
    assert evaluation.campaign.hits.count() == judged + 4
    ranks = evaluation.subjects.values_list("instance__sample_rank", flat=True)
    assert sorted(ranks) == list(range(12))


def test_the_walk_ends_on_the_board_with_the_right_score(published):
    assert (published.state, published.work.failure) == ("PUBLISHED", "")
    score = Score.own.get()
    ratings = clean_ratings(published.human_evaluation.campaign)
    plain = score.estimates["plain"]["mean"]
    assert plain == pytest.approx(100 * ratings.groupby("item")["value"].mean().mean())
    assert score.n == 12
    assert 0 <= score.low < score.mean < score.high <= 100
    assert score.low <= score.low_50 <= score.high_50 <= score.high
    assert sum(score.histogram.values()) == len(ratings) >= 12
    assert "seed:" in score.signature


def test_a_worker_who_always_agrees_is_banned_and_their_hits_go_out_again(
    task, players, diligent, quality, boss, request
):
    ask(task, negative_share=0.75)
    annotating = request.getfixturevalue("annotating")
    run.lift_share(Campaign.own.get().pk, boss, "Four of nine answer everything.")
    agreeable = next(player for player in players if player.habit == AGREEABLE)
    # Luck does not decide which work this worker gets, nor whether the money for
    # asking again lasts.
    wrong = TestQuestion.own.filter(polarity="NEGATIVE").values("item__hit")
    others = HIT.own.exclude(pk__in=wrong)
    for _ in range(4):  # paused meanwhile, until the answers have been looked at
        others.update(n_available=0)
        Crowd([agreeable], quality=quality, seed=1).work()
        others.update(n_available=1)
        settle()
    crowd = Crowd(diligent[:3], quality=quality, seed=2)
    for _ in range(5):
        crowd.work()
        settle()
    assert now(annotating).state == "PUBLISHED"
    ban = Ban.own.get()
    assert ban.worker == agreeable.worker
    assert ban.verdict.p_noisy > 0.99
    ratings = clean_ratings(annotating.human_evaluation.campaign)
    assert agreeable.worker.pk not in set(ratings["worker"])
    assert ratings["item"].nunique() == 12
    # all that this worker answered were test questions: no rating had to be left out
    assert Score.own.get(superseded_at=None).n_excluded_workers == 0
    replaced = Assignment.objects.filter(worker=agreeable.worker)
    assert replaced.exclude(replaced_at=None).count() == replaced.count() > 0


def test_everyone_is_paid_once_for_each_hit_banned_or_not(annotating, players, quality):
    crowd = Crowd(players, quality=quality, seed=3)
    for _ in range(5):
        crowd.work()
        settle()
    n = Assignment.own.filter(state__in=["SUBMITTED", "APPROVED"]).count()
    rewards = LedgerEntry.own.filter(kind="REWARD")
    assert rewards.count() == rewards.values("assignment").distinct().count() == n
    commitment = Commitment.own.get()
    assert (
        sum(rewards.values_list("amount_cents", flat=True)) <= commitment.amount_cents
    )


@pytest.mark.every_engine
def test_withdrawing_stops_the_campaign_and_frees_what_is_left(
    annotating, boss, players, quality, task
):
    crowd = Crowd(players[:1], quality=quality, seed=7)
    crowd.do_hit(crowd.players[0])
    before = budgets.budget_left(task.slug)
    decide.withdraw(annotating, by=boss, reason="A bug in decoding.")
    assert Campaign.own.get().state == "STOPPED"
    assert not crowd.do_hit(crowd.players[0])
    spent = annotating.human_evaluation.campaign.hit_type.reward_cents
    assert Commitment.own.get().amount_cents == spent
    freed = annotating.evaluation.approved_cents - spent
    assert budgets.budget_left(task.slug) - before == freed > 0


def test_ratings_of_a_campaign_are_in_a_fixed_order(annotating, players, quality):
    Crowd(players[:3], quality=quality, seed=9).work()
    ratings = clean_ratings(annotating.human_evaluation.campaign)
    keys = ratings[["item", "worker"]].to_numpy()
    assert (np.lexsort((keys[:, 1], keys[:, 0])) == np.arange(len(keys))).all()


def test_the_seed_that_hides_test_questions_is_made_with_the_sites_secret(annotating):
    campaign = Campaign.own.get()
    assert campaign.seed == seed_for("campaign", campaign.key)
    assert campaign.seed != seed_from("campaign", campaign.key)
