"""What runs each minute, or for each HIT, reads what is new and not what is there."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.campaigns.services.claim import _read_newest
from crowd.models import HIT, Assignment, Campaign, Input
from genie.lib.serving.caches import computed
from leaderboard.evaluation import run
from leaderboard.evaluation.selectors.unsettled import (
    outdated_evaluations,
    with_lost_ratings,
)
from leaderboard.evaluation.services import refit
from leaderboard.models import BoardFit, EvaluationCampaign, HumanEvaluation, Score
from quality.models import Ban, DetectorFit, Standing
from tests.factories import (
    answer,
    make_item,
    make_many_ranked,
    make_task,
    make_team,
    make_user,
    make_worker,
)
from tests.steps import steps

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="SQLite tells what it did"
    ),
]
State = Assignment.State


@pytest.fixture
def scored():
    maria = make_user("maria")
    make_many_ranked(make_task(), 20, team=make_team("Kestrel", maria), owner=maria)
    HumanEvaluation.own.update(scored_at=timezone.now())
    shown = Input.objects.create(scope="tidy-news", content_key="one")

    def work(n, worker):
        at = timezone.now() - timedelta(days=1)
        place = HIT.own.count()
        campaigns = Campaign.own.order_by("pk")
        hits = HIT.objects.bulk_create(
            HIT(campaign=campaigns[k % 3], input=shown, position=place + k)
            for k in range(n)
        )
        return Assignment.objects.bulk_create(
            Assignment(
                hit=hit,
                worker=worker,
                state=State.APPROVED,
                reward_cents=9,
                accepted_at=at,
                deadline_at=at,
                submitted_at=at,
                decided_at=at,
            )
            for hit in hits
        )

    return work


@pytest.mark.parametrize("look", [outdated_evaluations, with_lost_ratings])
def test_what_changed_is_found_without_reading_all_work(scored, look):
    scored(20, make_worker())
    few = steps(look)
    *_, last = scored(1_000, make_worker())
    assert look() == []
    assert steps(look) < 1.2 * few + 50
    of = HumanEvaluation.objects.get(campaigns__campaign=last.hit.campaign_id)
    rejected = {"state": State.REJECTED, "decided_at": timezone.now()}
    overturned = {"state": State.APPROVED, "overturned_at": timezone.now()}
    for change in (rejected, overturned):
        Assignment.objects.filter(pk=last.pk).update(**change)
        assert look() == [of.pk]
        assert look([of.pk]) == [of.pk]
        # known by the time of the next score
        scored_at = timezone.now() + timedelta(seconds=1)
        HumanEvaluation.objects.filter(pk=of.pk).update(scored_at=scored_at)
        assert look() == []
        HumanEvaluation.objects.filter(pk=of.pk).update(
            scored_at=rejected["decided_at"] - timedelta(hours=1)
        )
    assert look([pk for pk in range(1, of.pk + 9) if pk != of.pk]) == []


@pytest.mark.every_engine
def test_what_somebody_had_last_is_found_without_going_through_everybodys(scored):
    first, nobody = make_worker(), make_worker()
    scored(5, first)
    few = steps(lambda: _read_newest(first.pk))
    scored(1_000, make_worker())
    assert steps(lambda: _read_newest(first.pk)) < few + 20
    assert steps(lambda: _read_newest(nobody.pk)) < few + 20
    plan = Assignment.objects.filter(worker=first).order_by("-pk").explain()
    assert "assignment_newest_of_worker" in plan
    assert "TEMP B-TREE" not in plan


def test_looking_at_boards_where_nothing_is_new_asks_as_much_for_one_task_as_for_many():
    maria = make_user("maria")
    team = make_team("Kestrel", maria)

    def board(slug):
        task = make_task(slug)
        make_many_ranked(task, 2, team=team, owner=maria)
        now = timezone.now()
        HumanEvaluation.objects.filter(task=task).update(scored_at=now, final_at=now)
        inputs = refit.inputs_of(task)
        fit = BoardFit.objects.create(task=task, inputs_sha256=inputs)
        Score.objects.filter(submission__task=task).update(fit=fit)
        BoardFit.objects.update(created_at=timezone.now() - timedelta(days=2))
        banned_at = timezone.now() - timedelta(days=1)
        ban = Ban.objects.create(worker=make_worker(), pool_id=slug)
        Ban.objects.filter(pk=ban.pk).update(created_at=banned_at)
        return task

    def asked():
        run.advance()
        with CaptureQueriesContext(connection) as queries:
            assert run.advance() == 0
        return len(queries)

    first = board("tidy-news")
    one = asked()
    for slug in ("merry-tales", "plain-talk"):
        board(slug)
    assert asked() == one
    # what is thought of a worker has changed
    fit = DetectorFit.objects.create(pool_id="tidy-news", n_workers=1, seed=1)
    Standing.objects.create(
        fit=fit,
        worker=make_worker(),
        pool_id="tidy-news",
        n_questions=9,
        p_careless=0.5,
        weight=0.5,
    )
    assert refit.due() == [first.pk]


def test_of_many_evaluations_those_with_new_answers_are_looked_at(scored, monkeypatch):
    computed.delete(run._SEEN)
    monkeypatch.setattr(run, "LOOKS", 2)
    pks = list(HumanEvaluation.own.values_list("pk", flat=True))
    rows = EvaluationCampaign.own.order_by("pk").select_related("campaign")
    quiet, busy = rows[0], rows[1]
    # whatever came before this process began is looked at
    assert [run._worth_a_look(pks) for _ in range(2)] == [pks, pks]
    assert len(run._worth_a_look(pks)) == 2
    answer(make_item(busy.campaign, "new"), make_worker(), 1.0)
    for _ in range(2):
        looked_at = run._worth_a_look(pks)
        assert busy.evaluation_id in looked_at
        assert len(looked_at) == 3
    # the others have their turns
    for _ in range(1_000):
        if quiet.evaluation_id in run._worth_a_look(pks):
            break
    else:
        pytest.fail("an evaluation was never looked at")
    assert run._worth_a_look(pks[:2]) == pks[:2]
