"""How campaigns end: stopped, paused, robbed of their workers, cut off, taken back."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import overturn, reissue, review, run
from crowd.models import HIT, Assignment, Campaign, Commitment
from crowd.money.services import budgets
from genie.lib import jobs
from leaderboard import jobs as steps
from leaderboard.boards.selectors.submission_progress import score_changes, scores_of
from leaderboard.evaluation import campaigns, decide
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import score
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.models import HumanEvaluation, Score, Submission
from quality.appeals import services
from quality.bans import services as banning
from quality.detection.services.evidence import stamp_of
from quality.models import Ban, DetectorFit
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import POOL, do_one, make_campaign, make_worker
from tests.factories import asked_about
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import ask, now, settle, spent

State = Campaign.State


def ask_apart(task, setup: int) -> None:
    criteria = {"right": "Is it right?", "clear": "Is it clear?"}
    marked = {"positive": list(criteria), "negative": ["right"]}
    ask(task, setup=setup, criteria=criteria, test_criteria=marked)


def set_aside() -> dict[str, int]:
    rows = Commitment.own.filter(settled_at=None)
    return dict(rows.values_list("key", "amount_cents"))


def test_money_follows_a_task_that_asks_in_other_campaigns(task, hand_in, good, boss):
    ask_apart(task, 2)
    submission = hand_in(good, simulated=True)
    jobs.drain()
    decide.approve(asked_about(submission), by=boss, start_now=True)
    approved = sum(set_aside().values())
    ask_apart(task, 1)
    settle()
    campaign = Campaign.own.get()
    assert set_aside() == {campaign.key: campaign.budget_cents}
    assert campaign.budget_cents == approved > 0


def test_all_money_is_freed_if_the_task_asks_otherwise_now(task, hand_in, good, boss):
    ask_apart(task, 2)
    submission = hand_in(good, simulated=True)
    jobs.drain()
    decide.approve(asked_about(submission), by=boss)
    assert len(set_aside()) == 2
    ask_apart(task, 1)
    decide.withdraw(submission, by=boss, reason="")
    assert set_aside() == {}
    assert set(Commitment.own.values_list("amount_cents", flat=True)) == {0}


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_work_that_goes_out_again_and_the_end_of_the_campaign_exclude_each_other():
    for _ in range(8):
        campaign = make_campaign(2)
        worker = make_worker()
        do_one(worker), do_one(worker)

        def close(campaign=campaign):
            with transaction.atomic():
                campaigns.close_campaigns([campaign])

        at_once(close, lambda w=worker: reissue.replace_answers(w, POOL))
        campaign.refresh_from_db()
        free = sum(campaign.hits.values_list("n_available", flat=True))
        assert (campaign.state, free) in {(State.COMPLETE, 0), (State.RUNNING, 2)}
        run.stop(campaign.pk, None, "Over.")


def test_a_campaign_that_went_on_meanwhile_is_not_closed(annotating, diligent, quality):
    Crowd(diligent, quality=quality, seed=1).work()
    seen_as_done = Campaign.own.get()
    HIT.objects.filter(pk=HIT.own.first().pk).update(n_available=1)
    with transaction.atomic():
        assert campaigns.close_campaigns([seen_as_done]) is None
    assert Campaign.own.get().state == State.RUNNING


def test_a_campaign_stopped_without_a_rating_fails_visibly_once(annotating, boss):
    run.stop(Campaign.own.get().pk, boss, "Wrong texts.", publish=True)
    for _ in range(3):
        settle()
    found = now(annotating)
    assert (found.state, found.failed_step) == ("ANNOTATED", "score")
    assert found.work.failure_permanent
    assert found.work.n_attempts == 1
    assert "no score" in found.work.failure
    assert advance() == 0
    assert Commitment.own.get().amount_cents == 0
    decide.withdraw(found, by=boss, reason="Start again.")
    assert now(annotating).state == "WITHDRAWN"


def test_new_ratings_count_though_the_process_died_before_it_counted_them(
    published, diligent, quality, boss, task, monkeypatch
):
    banning.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    settle()
    Crowd(diligent[1:], quality=quality, seed=2).work()

    class Killed(BaseException):
        pass

    def die(_evaluation):
        raise Killed

    a_day_later()
    steps.step_evaluation(published.evaluation.pk)
    with monkeypatch.context() as patch:
        patch.setattr(score, "compute_scores", die)
        with pytest.raises(Killed):
            steps.rescore_task(task.pk)
    assert Campaign.own.get().state == State.COMPLETE
    assert Score.own.get(superseded_at=None).n < 12
    settle()
    assert Score.own.get(superseded_at=None).n == 12


def test_a_campaign_that_asks_again_and_is_stopped_gives_its_money_back(
    published, diligent, quality, boss, task
):
    banning.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    settle()
    commitment = Commitment.own.get()
    assert commitment.settled_at is None
    assert commitment.amount_cents > spent()
    Crowd(diligent[1:2], quality=quality, seed=2).do_hit(diligent[1])
    run.stop(Campaign.own.get().pk, boss, "No more money.")
    settle()
    commitment.refresh_from_db()
    assert commitment.settled_at is not None
    assert commitment.amount_cents == spent()
    # the detector has seen all answers, though the score was final before
    seen = DetectorFit.own.latest("pk").parameters["stamp"]
    assert seen == stamp_of(task.slug, simulated=True)
    n = Score.own.count()
    settle()
    assert Score.own.count() == n


def test_what_was_withdrawn_meanwhile_asks_nobody(published, diligent, boss, task):
    banning.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    advance()
    decide.withdraw(published, by=boss, reason="A bug.")
    before = Commitment.own.get().amount_cents
    jobs.drain()
    assert Campaign.own.get().state == State.COMPLETE
    assert Commitment.own.get().amount_cents == before
    assert Score.own.count() == 1


def test_a_withdrawn_result_comes_back_to_the_board_as_it_was(published, boss, task):
    before = now(published).published_at
    decide.withdraw(published, by=published.owner, reason="A mistake.")
    settle()
    decide.restore(published, by=published.owner)
    settle()
    found = now(published)
    assert (found.state, found.published_at) == ("PUBLISHED", before)
    assert found.evaluation.state == "SCORED"
    assert Score.own.count() == 1
    assert Commitment.own.get().amount_cents == spent()
    states = list(found.events.order_by("-pk").values_list("state", flat=True)[:3])
    assert states == ["PUBLISHED", "WITHDRAWN", "PUBLISHED"]


def test_a_score_of_which_no_rating_counts_leaves_the_board(
    published, diligent, quality, boss, task
):
    for player in diligent[:-1]:
        banning.ban(player.worker, task.slug, by=boss, reason="One person, many names.")
    settle()
    rest = Score.own.filter(superseded_at=None).first()
    banning.ban(
        diligent[-1].worker, task.slug, by=boss, reason="One person, many names."
    )
    a_day_later()
    settle()
    assert rest is not None
    assert not Score.own.filter(superseded_at=None).exists()
    assert now(published).state == "PUBLISHED"
    (*_, change) = score_changes(published, scores_of(published))
    assert (change.after, change.difference) == (None, None)
    assert change.reason == "no ratings count any longer"
    banning.lift(Ban.own.first().pk, by=boss, reason="This one is real.")
    a_day_later()
    settle()
    again = Score.own.get(superseded_at=None)
    assert (again.mean, again.n) == (rest.mean, rest.n)


@pytest.mark.parametrize("appealed", [True, False])
def test_rejected_work_leaves_the_score_until_it_is_pardoned(published, boss, appealed):
    first = Score.own.get()
    once = HumanEvaluation.own.get().subjects.filter(item__hit__max_assignments=1)
    rejected = Assignment.objects.get(hit__items=once.first().item)
    review.reject(rejected.pk, boss, "Made by a program.")
    settle()
    assert Score.own.get(superseded_at=None).n == first.n - 1
    assert Commitment.own.get().amount_cents == spent()
    settle()
    assert Score.own.count() == 2
    if appealed:
        words = "I am one, and I had read it."
        said = services.against_rejection(rejected.worker, rejected.pk, words)
        assert services.grant(said.pk, by=boss, sentence="So you had.")
    else:
        assert overturn.overturn(rejected.pk, by=boss, reason="A slip.")
    a_day_later()
    settle()
    again = Score.own.get(superseded_at=None)
    assert (again.mean, again.n) == (first.mean, first.n)
    assert Commitment.own.get().amount_cents == spent()
    settle()
    assert Score.own.count() == 3


@pytest.mark.every_engine
def test_a_ban_that_was_under_way_while_the_score_was_computed_is_not_overlooked(
    published, diligent, boss, task
):
    first = Score.own.get()
    banning.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    # Its transaction began before the score was computed and ended after that.
    scored_at = HumanEvaluation.own.get().scored_at
    Ban.own.update(created_at=scored_at - timedelta(seconds=5))
    settle()
    assert Score.own.get(superseded_at=None).n < first.n


def test_a_ban_that_a_score_has_seen_is_not_counted_again_and_again(
    published, diligent, boss, task
):
    banning.ban(diligent[0].worker, task.slug, by=boss, reason="A complaint.")
    settle()
    Ban.own.update(created_at=timezone.now() - timedelta(minutes=5))
    Campaign.own.update(state=State.COMPLETE)
    assert advance() == 0


def test_no_number_of_campaigns_keeps_a_new_submission_waiting(published, hand_in):
    fields = {
        name: getattr(published, name)
        for name in ("task_id", "team_id", "owner_id", "file_sha256", "file_bytes")
    }
    HumanEvaluation.objects.bulk_create(
        [
            HumanEvaluation(
                state="ANNOTATING",
                kind="single",
                task_id=published.task_id,
                requested_by_id=published.owner_id,
                n_instances=1,
                seed=n,
            )
            for n in range(600)
        ]
    )
    dropped = Submission.objects.create(system_name="New", **fields)
    assert advance() == 601
    assert advance() == 0
    queued = jobs.queued_jobs()
    assert ("leaderboard.jobs.validate", (("pk", dropped.pk),)) in queued
    assert sum(job == "leaderboard.jobs.step_evaluation" for job, _ in queued) == 600


def test_settling_is_done_once_however_often_it_is_tried(published):
    before = Commitment.own.get().amount_cents
    assert not budgets.settle(Commitment.own.get().key, 1)
    with transaction.atomic():
        campaigns.close_campaigns(Campaign.own)
    assert Commitment.own.get().amount_cents == before == spent()
