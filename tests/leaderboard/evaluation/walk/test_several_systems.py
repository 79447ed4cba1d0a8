"""One question about four systems: approved, paid and stopped once; one leaves alone."""

from functools import partial

import pytest
from django.db.models import Sum
from django.urls import reverse
from django.utils.html import strip_tags

from crowd.models import Campaign, Commitment
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard import jobs as steps
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import measure_tests
from leaderboard.evaluation.services import score
from leaderboard.evaluation.services.request import join
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.evaluation.strategies import single_system
from leaderboard.evaluation.strategies.measured_tests import is_measured
from leaderboard.models import EvaluationCampaign, HumanEvaluation, Score, Submission
from leaderboard.studio.models import Draft
from quality.models import DetectorFit, DrawnTests, Grade, TestCheck, TestQuestion
from tests.crowd.campaigns.test_races import at_once
from tests.factories import asked_about, make_user
from tests.kept import kept
from tests.leaderboard.evaluation.steps import now, settle, spent


def text_of(page):
    return " ".join(strip_tags(page.content.decode()).split())


NAMES = ("Ada", "Bob", "Cat", "Dan")


@pytest.fixture
def apart(hand_in, good, ids, task):
    def measured():
        made = []
        for n, name in enumerate(NAMES):
            wrong = {key: good[ids[i - 2]] for i, key in enumerate(ids) if i % 4 < n}
            owner, texts = make_user(name.lower()), good | wrong
            made.append(hand_in(texts, owner=owner, name=name, simulated=True))
        jobs.drain()
        return [now(one) for one in made]

    return kept("four systems", measured, task.config)


@pytest.fixture
def four(apart):
    cents = [decide.quote(one.human_evaluation).total_cents for one in apart]
    join(apart)
    assert decide.quote(HumanEvaluation.own.get()).total_cents == sum(cents) > 0
    return [now(one) for one in apart]


def test_staff_see_one_request_with_the_outputs_of_every_system(four, client, boss):
    Submission.objects.filter(pk=four[3].pk).update(
        warnings=[{"code": "copied", "sentence": "Many outputs are inputs."}]
    )
    client.force_login(boss)
    index = text_of(client.get(reverse("admin:index")))
    assert (index.count(", ".join(NAMES)), index.count("Bob")) == (1, 1)
    url = reverse("admin:leaderboard_submission_approve", args=[four[1].pk])
    page = text_of(client.get(url))
    assert "Dan: Many outputs are inputs." in page
    for name in NAMES:
        assert page.count(f"{name}: the first 5 outputs to be rated") == 1


@pytest.fixture
def running(four, boss, diligent):
    decide.approve(asked_about(four[2]), by=boss, start_now=True)
    settle()
    return [now(one) for one in four]


def states_of(systems) -> list[str]:
    return [now(one).state for one in systems]


def committed() -> int:
    return Commitment.own.aggregate(cents=Sum("amount_cents"))["cents"]


def test_one_approval_one_page_one_stop_and_money_added_once(running, boss, client):
    asked = HumanEvaluation.own.get()
    assert str(asked) == ", ".join(NAMES)
    assert states_of(running) == ["ANNOTATING"] * 4
    assert committed() == asked.approved_cents == decide.quote(asked).total_cents
    asking = EvaluationCampaign.own.filter(evaluation=asked, position=0)
    assert [one.submission_id for one in asking] == [one.pk for one in running]
    client.force_login(boss)
    page = client.get(f"/admin/leaderboard/task/{asked.task_id}/campaigns/").text
    assert f"<bdi>{asked}</bdi> · collecting ratings" in page
    assert page.count("Stop the study") == 1
    keys = list(Campaign.own.values_list("pk", flat=True))
    added = {f"budget-{one.pk}": one.budget_cents for one in Campaign.own}
    data = {"action": "add_money_selected", "_selected_action": keys, **added}
    data |= {"confirmed": "1", "dollars": "1", "reason": "Prices rose."}
    client.post("/admin/crowd/campaign/", data)
    assert committed() == asked.approved_cents + 400
    stop = {"action": "stop_selected", "_selected_action": [s.pk for s in running]}
    stop |= {"confirmed": "1", "reason": "The texts are wrong."}
    page = client.post("/admin/leaderboard/submission/", stop, follow=True).text
    assert "Submissions stopped: 1 of 1." in page
    assert states_of(running) == ["STOPPED"] * 4
    assert set(Campaign.own.values_list("state", flat=True)) == {"STOPPED"}
    assert committed() == 0


def test_one_leaves_with_its_money(running, boss, diligent, quality, client):
    before = committed()
    decide.withdraw(running[3], by=boss, reason="A wrong file.")
    asked = HumanEvaluation.objects.get(pk=running[0].human_evaluation_id)
    assert (str(asked), asked.approved_cents) == ("Ada, Bob, Cat", committed())
    assert committed() == before * 3 // 4
    Crowd(diligent, quality=quality, seed=1).work()
    settle()
    assert states_of(running) == [*["PUBLISHED"] * 3, "WITHDRAWN"]
    scores = Score.own.filter(superseded_at=None, evaluation=asked).order_by("-mean")
    assert [one.submission.system_name for one in scores] == list(NAMES[:3])
    last = now(running[3]).human_evaluation
    assert (last.state, last.approved_cents) == ("STOPPED", before // 4)
    client.force_login(boss)
    for one in scores:
        for name in ("submission", "card"):
            page = client.get(reverse(f"leaderboard:{name}", args=[one.submission_id]))
            assert f"{one.mean:.1f}" in page.text


def test_before_the_approval_one_leaves_with_a_request_for_itself(four, boss):
    cents = decide.quote(four[0].human_evaluation).total_cents
    decide.withdraw(four[0], by=four[0].owner, reason="")
    assert {str(one) for one in HumanEvaluation.own} == {"Ada", "Bob, Cat, Dan"}
    decide.restore(now(four[0]), by=four[0].owner)
    quotes = [decide.quote(one).total_cents for one in HumanEvaluation.own]
    assert sorted(quotes) == [cents // 4, cents * 3 // 4]


def test_questions_measured_for_each_are_measured_again_for_all(apart, settings):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}
    for one in apart:
        measure_tests(one.human_evaluation_id)
    assert DrawnTests.own.count() == 4
    join(apart)
    assert not DrawnTests.own.exists()
    assert not TestCheck.own.exists()
    asked = HumanEvaluation.own.get()
    measure_tests(asked.pk)
    assert is_measured(asked)


def test_a_kill_after_the_last_measurement_leaves_a_study_that_is_joined(apart, sam):
    state = {"systems": NAMES}
    Draft.objects.create(task=apart[0].task, owner=sam, state=state)
    for one in apart:
        Submission.own.filter(pk=one.pk).update(owner=sam)
    steps.measure(apart[3].pk)
    assert HumanEvaluation.own.get().systems.count() == 4


# Races of a study: whoever is first, nothing is lost and nothing doubled.
racing = pytest.mark.django_db(transaction=True)
State = HumanEvaluation.State
WITHOUT_LAST = [*["PUBLISHED"] * 3, "WITHDRAWN"]


def race(*calls) -> list[object]:
    """Call each at once; then money, campaigns and scores are with their evaluation."""
    found = at_once(*calls)
    open_now = (State.APPROVED, State.ANNOTATING)
    asked = HumanEvaluation.own.filter(state__in=open_now)
    assert sum(asked.values_list("approved_cents", flat=True)) in {0, committed()}
    for row in (*EvaluationCampaign.own.all(), *Score.own.all()):
        assert row.submission.human_evaluation_id == row.evaluation_id
    keys = list(Score.own.filter(superseded_at=None).values_list("submission"))
    assert len(keys) == len(set(keys))
    return [one for one in found if isinstance(one, GenieError)]


@pytest.mark.every_engine
@racing
def test_of_two_approvals_at_once_one_counts(four, boss):
    one, other = map(asked_about, four[:2])
    refused = race(
        lambda: decide.approve(one, by=boss), lambda: decide.approve(other, by=boss)
    )
    assert len(refused) == 1
    assert committed() == decide.quote(one).total_cents


@pytest.mark.every_engine
@racing
def test_systems_joined_twice_at_once_are_in_one_request(apart):
    race(lambda: join(apart), lambda: join(apart[:3]), lambda: join(apart[1:]))
    asked = HumanEvaluation.own.get()
    assert [row.submission for row in asked.systems.all()] == list(apart)


@pytest.mark.every_engine
@racing
def test_one_leaves_at_the_moment_of_approval_and_of_launch(four, boss, monkeypatch):
    asked, (*_, last) = asked_about(four[0]), four
    whole = decide.quote(asked).total_cents
    assert not race(
        lambda: decide.approve(asked, by=boss),
        lambda: decide.withdraw(last, by=boss, reason="A wrong file."),
    )
    assert committed() == whole * 3 // 4
    real, (third, owner) = single_system.before_launch, (four[2], four[2].owner)

    def leave_and_return(*given):
        monkeypatch.setattr(single_system, "before_launch", real)
        decide.withdraw(third, by=owner, reason="")
        decide.restore(now(third), by=owner)

    monkeypatch.setattr(single_system, "before_launch", leave_and_return)
    settle()
    settle()
    assert states_of(four) == ["ANNOTATING", "ANNOTATING", "MEASURED", "WITHDRAWN"]
    assert committed() == whole // 2
    assert Campaign.own.count() == 2


@pytest.mark.every_engine
@racing
def test_one_leaves_at_the_moment_of_the_stop(running, boss):
    asked = asked_about(running[0])
    assert not race(
        lambda: decide.stop(asked, by=boss, reason="The texts are wrong."),
        lambda: decide.withdraw(running[3], by=boss, reason="A wrong file."),
    )
    assert states_of(running) == [*["STOPPED"] * 3, "WITHDRAWN"]
    assert set(Campaign.own.values_list("state", flat=True)) == {"STOPPED"}
    assert committed() == 0


@pytest.mark.slow
@pytest.mark.every_engine
@racing
def test_each_step_of_a_study_by_two_processes_while_one_leaves(
    four, boss, diligent, quality, task, monkeypatch
):
    step, running = partial(steps.step_evaluation, four[0].human_evaluation_id), four
    decide.approve(asked_about(four[0]), by=boss, start_now=True)
    race(step, step)
    assert (Campaign.own.count(), TestQuestion.own.count()) == (4, 4 * 4)
    Crowd(diligent, quality=quality, seed=1).work()
    race(step, step)
    assert states_of(running) == ["ANNOTATED"] * 4
    # two of the tests are answered twice
    assert (Grade.own.count(), DetectorFit.own.count()) == (4 * 4 + 2, 1)
    assert committed() == spent()
    real = score.compute_scores

    def computed(part):
        if part.system == running[3].pk:
            monkeypatch.setattr(score, "compute_scores", real)
            decide.withdraw(running[3], by=boss, reason="Wrong.")
        return real(part)

    monkeypatch.setattr(score, "compute_scores", computed)
    step()
    assert asked_about(running[0]).failure == ""
    race(step, step)
    settle()
    assert states_of(running) == WITHOUT_LAST
    race(
        step,
        partial(steps.rescore_task, task.pk),
        partial(steps.refit_board, task.pk),
        lambda: decide.withdraw(running[2], by=boss, reason="Wrong."),
    )
    settle()
    assert states_of(running) == [*["PUBLISHED"] * 2, *["WITHDRAWN"] * 2]
    scores = Score.own.filter(superseded_at=None, evaluation=asked_about(running[0]))
    assert sorted(one.submission.system_name for one in scores) == ["Ada", "Bob"]
    for one in running[:2]:
        told = list(one.events.values_list("state", "sentence"))
        assert len(told) == len(set(told))
    assert committed() == spent()
