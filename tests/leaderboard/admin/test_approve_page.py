"""The page to decide on: cost to the cent, warnings, outputs, three buttons."""

import re

from crowd.models import Budget, Commitment
from leaderboard.evaluation import decide as decisions
from leaderboard.models import Instance, Submission
from tests.each import each
from tests.factories import make_predictions
from tests.leaderboard.admin.conftest import fields_of, history, state_of

State = Submission.State

WARNINGS = [
    {
        "code": "misaligned-ids",
        "sentence": "The ids <b>look</b> shuffled.",
        "figures": {"own": 0.12, "best": 0.71},
    }
]


def path_of(submission):
    return f"/admin/leaderboard/submission/{submission.pk}/approve/"


def decide(client, submission, decision, **fields):
    page = client.get(path_of(submission))
    return client.post(
        path_of(submission),
        {**fields_of(page.text), decision: "pressed", "reason": "", **fields},
        follow=True,
    )


def test_it_shows_cost_workers_warnings_and_outputs(boss, waiting):
    text = boss.get(path_of(waiting(warnings=WARNINGS))).text
    # 20 instances, 1 + 1 test questions, 10% of the 22 a second time at 9 cents, and
    # 10% of the 24 again
    rows = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    flat = re.sub(r"<[^>]+>|\s+", " ", " ".join(rows))
    flat = re.sub(r" +", " ", flat)
    assert "Items 20 $0.09 $1.80" in flat
    assert "Test questions 2 $0.09 $0.18" in flat
    assert "Second answers to items rated twice 2 $0.09 $0.18" in flat
    assert "Expected re-posting 3 $0.09 $0.27" in flat
    assert "Platform fee 27 $0.00 $0.00" in flat
    assert "Total, committed on approval $2.43" in flat
    assert "Workers wanted" in text
    assert "At least 10. Each may do at most 20% of a campaign: 5 of 24 HITs." in text
    assert "misaligned-ids" in text
    assert "The ids &lt;b&gt;look&lt;/b&gt; shuffled." in text
    assert "own 0.12; best 0.71" in text
    assert "Approve for $2.43" in text  # warnings do not block
    shown = [n for n in range(20) if f"Prediction for i{n}." in text]
    assert shown == list(range(10))  # the first of those that people would judge
    assert all(f"Reference number {n}." in text for n in shown)
    assert "Source number 3." in text


def test_what_is_left_of_the_budget_stands_beside_it(boss, waiting):
    submission = waiting()
    Budget.objects.create(pool_id="tidy-news", limit_cents=1000)
    text = re.sub(r"<[^>]+>|\s+", " ", boss.get(path_of(submission)).text)
    assert re.search(r"Left in the budget now +\$10\.00", text)
    assert re.search(r"Left afterwards +\$7\.57", text)


def test_hidden_references_are_hidden_here_too(boss, waiting, task):
    task.hidden_references = True
    task.save()
    text = boss.get(path_of(waiting())).text
    assert "Reference number" not in text
    assert "Prediction for i3." in text


def test_hostile_outputs_are_text(boss, waiting, task):
    submission = waiting(system="</title><script>alert(1)</script>")
    submission.predictions.all().delete()
    make_predictions(submission, "]]></td><script>alert({0})</script>")
    Instance.own.update(references=["<img src=x onerror=alert(1)>"])
    text = boss.get(path_of(submission)).text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;alert(i0)" in text


def test_approving_sets_the_money_aside_and_is_in_the_history(boss, waiting, superuser):
    submission = waiting()
    answer = decide(boss, submission, "approve", reason="Good work.")
    assert state_of(submission) == State.APPROVED
    submission.refresh_from_db()
    assert (submission.evaluation.approved_cents, submission.evaluation.start_now) == (
        243,
        False,
    )
    assert submission.evaluation.decided_by == superuser
    assert Commitment.own.get().amount_cents == 243
    assert history(submission) == ["Approved up to $2.43. Good work."]
    assert "Approved up to $2.43" in answer.text


def test_approving_can_start_at_once(boss, waiting):
    submission = waiting()
    decide(boss, submission, "start-now")
    submission.refresh_from_db()
    assert (submission.state, submission.evaluation.start_now) == (State.APPROVED, True)
    assert history(submission) == ["Approved up to $2.43, to start now."]


def test_declining_needs_a_reason(boss, waiting):
    submission = waiting()
    answer = decide(boss, submission, "decline", reason="   ")
    assert "Give a reason" in answer.text
    assert state_of(submission) == State.MEASURED
    decide(boss, submission, "decline", reason="The ids are shuffled.")
    submission.refresh_from_db()
    assert submission.state == State.DECLINED
    assert submission.evaluation.decision_reason == "The ids are shuffled."
    assert history(submission) == ["Declined: The ids are shuffled."]


def test_a_declined_submission_can_be_approved_later(boss, waiting):
    submission = waiting()
    decide(boss, submission, "decline", reason="Not now.")
    page = boss.get(path_of(submission)).text
    assert "Earlier decision: Not now." in page
    assert "Decline with this reason" not in page
    decide(boss, submission, "approve")
    assert state_of(submission) == State.APPROVED


def test_nobody_pays_another_price_than_the_one_they_saw(boss, waiting, task):
    submission = waiting()
    page = boss.get(path_of(submission)).text
    task.config["human"]["reward_cents"] = 90
    task.save()
    answer = boss.post(
        path_of(submission), {**fields_of(page), "approve": "pressed", "reason": ""}
    )
    assert "The cost has changed" in answer.text
    assert "Approve for $24.30" in answer.text
    assert 'value="2430"' in answer.text
    assert state_of(submission) == State.MEASURED


def test_a_budget_that_is_too_small_refuses_with_its_figures(boss, waiting):
    submission = waiting()
    Budget.objects.create(pool_id="tidy-news", limit_cents=200)
    page = boss.get(path_of(submission)).text
    assert "costs more than is left" in page
    answer = decide(boss, submission, "approve")
    assert state_of(submission) == State.MEASURED
    assert not Commitment.own.exists()
    assert "$2.00" in answer.text or "$2.43" in answer.text
    assert history(submission) == []


def test_who_comes_second_is_told_and_nothing_is_paid_twice(boss, waiting, staff):
    submission = waiting()
    page = boss.get(path_of(submission)).text
    decisions.approve(submission.human_evaluation, by=staff)
    answer = boss.post(
        path_of(submission), {**fields_of(page), "approve": "pressed", "reason": ""}
    )
    assert "that await approval or were declined can be approved" in answer.text
    assert "there is nothing to decide" in answer.text
    assert Commitment.own.count() == 1
    submission.refresh_from_db()
    assert submission.evaluation.decided_by == staff
    assert history(submission) == []


@each("decision", ["", "launch", "APPROVE"])
def test_only_the_three_buttons_decide(boss, waiting, decision):
    submission = waiting()
    answer = decide(boss, submission, decision)
    assert answer.status_code == 200
    assert state_of(submission) == State.MEASURED


def test_after_a_decision_comes_the_next_that_waits(boss, without_decoys, waiting):
    first, second = waiting("First"), waiting("Second")
    answer = decide(boss, first, "approve")
    assert answer.request["PATH_INFO"] == path_of(second)
    answer = decide(boss, second, "approve")
    assert answer.request["PATH_INFO"].endswith(f"/{second.pk}/change/")


def test_a_submission_that_is_not_there_is_not_found(boss, db):
    assert boss.get("/admin/leaderboard/submission/99/approve/").status_code == 404
