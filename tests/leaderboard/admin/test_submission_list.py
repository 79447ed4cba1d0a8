"""The list of submissions: what it shows, and acting on many after one more look."""

import pytest

from crowd.models import Budget, Commitment
from genie.lib import jobs
from leaderboard.models import Submission
from tests.each import each
from tests.factories import make_submission, make_task
from tests.leaderboard.admin.conftest import LIST, act, confirm, history, state_of

State = Submission.State


def test_the_list_shows_state_cost_warnings_and_the_last_error(boss, waiting, cast):
    waiting("Waits", warnings=[{"code": "x", "sentence": "X.", "figures": {}}] * 2)
    waiting("Paid", state=State.APPROVED, approved_cents=4321)
    waiting("Bad", state=State.INVALID, errors=[{"message": "Line 3 is not JSON."}])
    waiting("Stuck", state=State.VALID, failure="No memory.")
    text = boss.get(LIST).text
    assert "$2.43 if approved" in text
    assert "$43.21 approved" in text
    assert "Line 3 is not JSON." in text
    assert "No memory." in text
    assert '<td class="field-n_warnings">2</td>' in text


def test_the_list_asks_the_database_no_more_for_more_rows(
    boss, waiting, django_assert_max_num_queries
):
    for n in range(25):
        waiting(f"S{n}")
    with django_assert_max_num_queries(16):
        boss.get(LIST)


@pytest.mark.every_engine
@each(
    ("query", "systems"),
    [
        ("failed=yes", {"Stuck"}),
        ("failed=no", {"Kite", "Warned"}),
        ("warned=yes", {"Warned"}),
        ("warned=no", {"Kite", "Stuck"}),
        ("state__exact=VALID", {"Stuck"}),
        ("q=kit", {"Kite"}),
        ("q=Heron", {"Kite", "Stuck", "Warned"}),
        ("q=nina", {"Kite", "Stuck", "Warned"}),
    ],
)
def test_the_list_can_be_narrowed(boss, waiting, query, systems):
    waiting("Kite")
    waiting("Warned", warnings=[{"code": "x", "sentence": "X.", "figures": {}}])
    waiting("Stuck", state=State.VALID, failure="No memory.")
    text = boss.get(f"{LIST}?{query}").text
    shown = {name for name in ("Kite", "Warned", "Stuck") if f">{name}</a>" in text}
    assert shown == systems


def test_bulk_approval_shows_the_total_and_warnings_first(boss, waiting, superuser):
    warnings = [{"code": "misaligned-ids", "sentence": "X.", "figures": {}}]
    first, second = waiting("First", warnings=warnings), waiting("Second")
    third = waiting("Third")
    page = act(boss, "approve_selected", first, second)
    assert "misaligned-ids" in page.text
    assert "Total" in page.text
    assert "$4.86" in page.text
    assert page.text.count("$2.43, at least 10 workers") == 2
    assert "Third" not in page.text
    assert state_of(first) == state_of(second) == State.MEASURED
    answer = confirm(boss, page, reason="Both fine.", start_now="on")
    assert "Submissions approved: 2 of 2." in answer.text
    assert state_of(first) == state_of(second) == State.APPROVED
    assert state_of(third) == State.MEASURED
    first.refresh_from_db()
    assert first.evaluation.decided_by == superuser
    assert first.evaluation.start_now is True
    assert history(first) == ["Approved up to $2.43. Both fine."]
    assert history(third) == []


def test_bulk_approval_stops_at_the_budget_and_says_which(boss, waiting):
    first, second = waiting("First"), waiting("Second")
    Budget.objects.create(pool_id="tidy-news", limit_cents=300)
    page = act(boss, "approve_selected", first, second)
    assert "$4.86 of $3.00 left" in page.text
    assert "not enough" in page.text
    answer = confirm(boss, page)
    assert "Submissions approved: 1 of 2." in answer.text
    assert "Second: " in answer.text
    assert (state_of(first), state_of(second)) == (State.APPROVED, State.MEASURED)
    assert Commitment.own.count() == 1


def test_bulk_approval_is_for_the_price_that_was_shown(boss, waiting, task):
    submission = waiting()
    page = act(boss, "approve_selected", submission)
    task.config["human"]["reward_cents"] = 90
    task.save()
    answer = confirm(boss, page)
    assert "The cost has changed" in answer.text
    assert state_of(submission) == State.MEASURED


def test_bulk_approval_of_two_tasks_shows_both_budgets(boss, waiting, who):
    other = make_task("arid-answers", n_instances=20, sample_size=20)
    one = waiting()
    two = make_submission(other, **who)
    text = act(boss, "approve_selected", one, two).text
    assert "arid-answers" in text
    assert "tidy-news" in text


@each("in_bulk", [True, False])
def test_a_failed_step_runs_again_after_the_yes_and_a_reason(boss, waiting, in_bulk):
    stuck = waiting(state=State.VALID, failure="No memory.")
    path = LIST if in_bulk else f"{LIST}{stuck.pk}/retry/"
    assert f"{LIST}{stuck.pk}/retry/" in boss.get(f"{LIST}{stuck.pk}/change/").text
    page = act(boss, "retry_selected", stuck) if in_bulk else boss.get(path)
    assert "No memory." in page.text
    confirm(boss, page, path=path)
    assert jobs.n_waiting() == 0
    confirm(boss, page, path=path, reason="More memory.")
    stuck.refresh_from_db()
    assert stuck.failed_step == ""
    assert jobs.queued_jobs() == {("leaderboard.jobs.measure", (("pk", stuck.pk),))}
    assert history(stuck) == ["Step 'measure' queued again. Reason: More memory."]


@each(
    ("state", "stoppable"),
    [(State.MEASURED, False), (State.ANNOTATING, True), (State.PUBLISHED, False)],
)
def test_a_running_evaluation_is_stopped_from_its_page(boss, waiting, state, stoppable):
    kite = waiting("Kite", state=state)
    page = boss.get(f"/admin/leaderboard/submission/{kite.pk}/change/").text
    assert (f"/admin/leaderboard/submission/{kite.pk}/stop/" in page) is stoppable


def test_staff_say_what_a_system_is_and_that_it_is_a_baseline(boss, waiting):
    kite = waiting("Kite")
    path = f"/admin/leaderboard/submission/{kite.pk}/"
    assert f'href="{path}describe/">About the system' in boss.get(f"{path}change/").text
    said = {"baseline": "reference", "parameters": "7B"}
    answer = boss.post(f"{path}describe/", said, follow=True)
    assert "Changed: parameters, baseline." in answer.text
    kite.refresh_from_db()
    assert (kite.baseline, kite.parameters) == ("reference", "7B")
    assert "Changed: parameters, baseline." in boss.get(f"{path}history/").text
