"""One machine: legal moves, one writer of states, the same rules for all strategies."""

import re
from pathlib import Path

import pytest
from django.utils.module_loading import import_string

from crowd.models import Campaign, Commitment
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import LostRace
from leaderboard.evaluation import campaigns, decide, machine, run
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.strategies import STRATEGIES
from leaderboard.models import HumanEvaluation, Submission, SubmissionEvent
from leaderboard.submissions import states
from leaderboard.submissions.services import lifecycle
from tests.factories import (
    make_evaluation,
    make_predictions,
    make_submission,
    make_task,
    make_team,
    make_user,
)
from tests.leaderboard.evaluation.steps import settle
from tests.refusals import refusal

ROOT = Path(__file__).resolve().parents[3]
State = states.State


@pytest.fixture
def nina(db):
    return make_user("nina")


@pytest.fixture
def boss(db):
    return make_user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def systems(nina):
    task = make_task(n_instances=12, sample_size=4)
    team = make_team("Heron", nina)
    found = []
    for name in ("Kite", "Wren"):
        system = make_submission(task, team=team, owner=nina, system=name)
        make_predictions(system)
        found.append(system)
    return found


@pytest.fixture(params=["submission", "comparison", "joint"])
def subject(request, systems, nina):
    if request.param == "submission":
        return systems[0]
    if request.param == "joint":
        return joint.request(systems, by=nina, n_instances=3)
    criterion = next(iter(comparison.criteria_of(systems[0].task)))
    question = comparison.Question(criterion, max_pairs=4)
    return comparison.request(*systems, question, by=nina)


of = decide.evaluation_about


def about(subject):
    return machine.read(of(subject).pk)


def test_every_state_can_be_reached_and_has_a_name_of_its_own():
    reachable = {State.REQUESTED}
    for _ in states.LEGAL:
        reachable |= {new for old in reachable for new in states.LEGAL[old]}
    assert reachable == set(states.LEGAL) == set(State)
    assert len(set(State.labels)) == len(State)


def test_every_strategy_has_every_step_and_the_step_is_a_job():
    assert set(STRATEGIES) == set(HumanEvaluation.Kind.values)
    for strategy in STRATEGIES.values():
        assert all(callable(getattr(strategy, name)) for name in states.STEPS.values())
    assert import_string(machine.JOB)


def test_submissions_use_the_same_names_for_the_same_states():
    for state in Submission.State:
        own = State(state) if state in State.values else None
        assert own is None or own.label == state.label
    assert Submission.State.MEASURED.label == State.REQUESTED.label


def test_only_the_machine_writes_the_states_of_evaluations():
    may = {
        "leaderboard/evaluation/machine.py",
        "leaderboard/submissions/services/lifecycle.py",
    }
    writes = re.compile(
        r"(HumanEvaluation|Submission)\.objects\b[^=]*?\.update\([^)]*\b(own_)?state="
        r"|\b(evaluation|submission)\.(own_)?state = ",
        re.S,
    )
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "leaderboard").rglob("*.py")
        if "migrations" not in path.parts and writes.search(path.read_text("utf-8"))
    }
    assert found <= may


@pytest.mark.every_engine
def test_what_is_decided_is_on_the_evaluation_and_the_submission_at_once(subject, boss):
    evaluation = about(subject)
    settle()
    assert (evaluation.state, Campaign.own.count()) == (State.REQUESTED, 0)
    decide.decline(of(subject), by=boss, reason="Not now.")
    assert subject.state == State.DECLINED
    decide.approve(of(subject), by=boss, reason="After all.")
    evaluation.refresh_from_db()
    assert (subject.state, evaluation.state) == (State.APPROVED, State.APPROVED)
    decided = evaluation.decided_by, evaluation.decision_reason
    assert decided == (boss, "After all.")
    cents = decide.quote(evaluation).total_cents
    assert evaluation.approved_cents == Commitment.own.get().amount_cents == cents
    assert jobs.queued_jobs() == {(machine.JOB, (("pk", evaluation.pk),))}
    run.step(evaluation.pk)
    subject.refresh_from_db()
    evaluation.refresh_from_db()
    assert subject.state == evaluation.state == State.ANNOTATING
    assert (
        next(row.submission for row in evaluation.systems.all()).system_name == "Kite"
    )
    assert all("Kite" in one.title for one in evaluation.campaigns_in_order)
    decide.stop(of(subject), by=boss, reason="Wrong texts.")
    evaluation.refresh_from_db()
    assert (subject.state, evaluation.state) == (State.STOPPED, State.STOPPED)
    assert evaluation.finished_at is not None
    assert {one.state for one in evaluation.campaigns_in_order} == {"STOPPED"}
    assert not Commitment.own.filter(settled_at=None).exists()


@pytest.mark.parametrize("verb", ["decline", "stop"])
def test_a_no_needs_its_reason(subject, boss, verb):
    with refusal("reason-missing"):
        getattr(decide, verb)(of(subject), by=boss, reason=" ")
    with refusal("not-running"):
        decide.stop(of(subject), by=boss, reason="No.")


def test_what_was_approved_is_not_declined(subject, boss):
    decide.approve(of(subject), by=boss)
    with refusal("not-declinable"):
        decide.decline(of(subject), by=boss, reason="Again.")


def test_who_comes_second_changes_nothing(subject, boss):
    stale = about(subject)
    decide.decline(of(subject), by=boss, reason="Not now.")
    n = SubmissionEvent.own.count()
    with pytest.raises(LostRace):
        machine.move(stale, State.APPROVED, "Approved.", by=boss)
    subject.refresh_from_db()
    assert subject.state == about(subject).state == State.DECLINED
    assert SubmissionEvent.own.count() == n
    assert not jobs.queued_jobs()


def test_a_failure_is_seen_on_the_evaluation_and_on_what_it_is_for(
    subject, boss, monkeypatch
):
    decide.approve(of(subject), by=boss)
    evaluation = about(subject)

    calls = []

    def refuse(*_args, **_kwargs):
        calls.append(1)
        raise GenieError("The template cannot show this.", code="no")

    with monkeypatch.context() as patch:
        patch.setattr("leaderboard.evaluation.campaigns.build_campaign", refuse)
        settle()
        n = len(calls)
        for _ in range(2):
            settle()
    # a reason that will not go away is not tried again
    assert len(calls) == n > 0
    subject.refresh_from_db()
    evaluation.refresh_from_db()
    assert subject.failed_step == "launch"
    for row in (getattr(subject, "work", subject), evaluation):
        assert (row.failed_step, row.failure_permanent) == ("launch", True)
        assert row.failure.startswith(
            f"The template cannot show this. The ${evaluation.approved_cents / 100:,.2f} "
            "approved stay committed until it is retried or "
        )
    assert not Commitment.own.exclude(settled_at=None).exists()
    decide.retry(of(subject), by=boss)
    evaluation.refresh_from_db()
    subject.refresh_from_db()
    for row in (getattr(subject, "work", subject), evaluation):
        assert (row.failed_step, row.failure, row.n_attempts) == ("", "", 0)
    run.step(evaluation.pk)
    subject.refresh_from_db()
    assert subject.state == State.ANNOTATING


def test_a_launch_holds_its_rows_before_it_touches_money(subject, boss, monkeypatch):
    """Whoever stops or withdraws takes them in the same order; two cannot block."""
    order = []
    decide.approve(of(subject), by=boss)
    evaluation = about(subject)

    def noting(name, function):
        def called(*args, **kwargs):
            order.append(name)
            return function(*args, **kwargs)

        return called

    for module, name in ((machine, "lock"), (campaigns.budgets, "divide")):
        monkeypatch.setattr(module, name, noting(name, getattr(module, name)))
    built = noting("build", campaigns.build_campaign)
    monkeypatch.setattr(campaigns, "build_campaign", built)
    run.step(evaluation.pk)
    assert order[0] == "lock"
    assert "build" in order
    subject.refresh_from_db()
    assert subject.state == State.ANNOTATING


def test_a_launch_that_comes_too_late_builds_nothing(subject, boss, monkeypatch):
    decide.approve(of(subject), by=boss)
    stale = about(subject)
    decide.stop(of(subject), by=boss, reason="Too dear after all.")
    monkeypatch.setattr(campaigns, "build_campaign", None)
    with pytest.raises(LostRace):
        STRATEGIES[stale.kind].launch(stale)
    subject.refresh_from_db()
    assert subject.state == State.STOPPED


def test_no_state_of_a_submission_lacks_its_moves():
    assert set(lifecycle.LEGAL) == set(Submission.OWN)


@pytest.mark.every_engine
def test_an_evaluation_counts_its_campaigns_once(systems):
    evaluation = make_evaluation(systems[0], n=2)
    assert evaluation.campaign == evaluation.campaigns.get().campaign
    assert str(evaluation) == "Kite"
