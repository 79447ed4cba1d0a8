"""Teams ask which system is better, and staff decide on the money, by program."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from crowd.models import Commitment
from leaderboard.evaluation import decide
from leaderboard.models import Comparison, HumanEvaluation, JointEvaluation
from tests.cast import allow
from tests.factories import make_predictions, make_submission, make_task
from tests.leaderboard.api.conftest import V1, authorization

JSON = "application/json"


@pytest.fixture
def systems(cast):
    """Two measured systems, of Nina's team and of Rita's."""
    task = make_task("tidy-news", n_instances=12, sample_size=4)
    found = []
    for name, team, owner in (
        ("Kite", cast.team, cast.submitter),
        ("Wren", cast.rival_team, cast.rival),
    ):
        made = make_submission(task, team=team, owner=owner, system=name)
        make_predictions(made)
        found.append(made)
    return found


def send(path, body, headers):
    return Client().post(f"{V1}{path}", body, content_type=JSON, headers=headers)


def question(systems, **more):
    criterion = next(iter(systems[0].task.configuration.comparison.criteria))
    a, b = (system.pk for system in systems)
    return {"a": a, "b": b, "criterion": criterion, "max_pairs": 4, **more}


def test_a_comparison_is_asked_for_once_under_a_key_and_taken_back(cast, systems):
    headers = authorization(cast.submitter)
    keyed = {**headers, "Idempotency-Key": "k"}
    first, again = (send("/comparisons/", question(systems), keyed) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201), first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert first.json()["html_url"] == again.json()["html_url"]
    other = send("/comparisons/", question(systems, max_pairs=5), keyed)
    assert other.json()["code"] == "key-reused"
    assert (
        Comparison.objects.count()
        == HumanEvaluation.own.filter(kind="comparison").count()
        == 1
    )
    path = f"/comparisons/{first.json()['id']}"
    reading = authorization(cast.submitter, "read", "submit")
    assert send(f"{path}/withdraw/", {}, reading).status_code == 403
    assert send(f"{path}/withdraw/", {}, headers).json()["state"] == "WITHDRAWN"
    assert send(f"{path}/withdraw/", {}, headers).json()["code"] == "not-withdrawable"
    # nobody else learns that there was a question
    assert Client().get(f"{V1}{path}/").status_code == 404


def test_who_has_no_system_in_it_cannot_ask(cast, systems):
    body = question(systems)
    refused = send("/comparisons/", body, authorization(cast.worker))
    assert (refused.status_code, refused.json()["code"]) == (403, "not-a-member")
    systems[0].visibility = "PRIVATE"
    systems[0].save()
    # of what one may not see, it is not said that it is there
    refused = send("/comparisons/", body, authorization(cast.rival)).json()
    assert refused["errors"][0]["field"] == "a"
    assert not Comparison.objects.exists()


def test_a_joint_evaluation_is_asked_for(cast, systems):
    pks = [system.pk for system in systems]
    headers = authorization(cast.rival)
    made = send("/joint-evaluations/", {"systems": pks, "n_instances": 3}, headers)
    assert made.status_code == 201, made.content
    assert [row["submission"] for row in made.json()["systems"]] == pks
    one = send("/joint-evaluations/", {"systems": pks[1:]}, headers)
    assert one.json()["code"] == "wrong-number-of-systems"
    path = f"/joint-evaluations/{made.json()['id']}/withdraw/"
    assert send(path, {}, headers).json()["state"] == "WITHDRAWN"
    assert JointEvaluation.objects.count() == 1


def test_an_approval_repeats_the_cost_and_fails_if_it_moved(cast, systems, monkeypatch):
    path = f"/submissions/{systems[0].pk}/decision/"
    headers = authorization(cast.superuser)
    shown = Client().get(f"{V1}{path}", headers=headers).json()
    assert shown["possible"] == ["approve", "decline"]
    cents = shown["cost_cents"]
    assert cents == decide.quote(systems[0].evaluation).total_cents
    assert sum(line["cents"] for line in shown["cost_lines"]) == cents
    silent = send(path, {"decision": "approve"}, headers).json()
    assert silent["errors"][0]["field"] == "cost_cents"
    wrong = send(path, {"decision": "approve", "cost_cents": cents - 1}, headers)
    assert (wrong.status_code, wrong.json()["code"]) == (409, "cost-moved")
    assert wrong.json()["details"] == {"cost_cents": cents}
    assert not Commitment.own.exists()
    done = send(path, {"decision": "approve", "cost_cents": cents}, headers)
    assert done.status_code == 200, done.content
    assert (done.json()["state"], done.json()["approved_cents"]) == ("APPROVED", cents)
    assert Commitment.own.get().amount_cents == cents
    assert "by program" in LogEntry.objects.get().change_message
    twice = send(path, {"decision": "approve", "cost_cents": cents}, headers)
    assert twice.json()["code"] == "not-approvable"
    assert Commitment.own.get().amount_cents == cents
    stopped = send(path, {"decision": "stop", "reason": "Too dear."}, headers)
    assert stopped.json()["state"] == "STOPPED"
    assert Commitment.own.get().amount_cents == 0


def test_a_refusal_takes_a_reason_and_only_who_may_spend_decides(cast, systems):
    made = send("/comparisons/", question(systems), authorization(cast.submitter))
    path = f"/comparisons/{made.json()['id']}/decision/"
    without_scope = authorization(cast.superuser, "read", "submit", "withdraw")
    for headers in (authorization(cast.staff), without_scope):
        refused = send(path, {"decision": "decline", "reason": "No."}, headers)
        assert refused.status_code == 403
    allow(cast.staff, decide.MAY_DECIDE)
    headers = authorization(cast.staff)
    silent = send(path, {"decision": "decline"}, headers)
    assert silent.json()["code"] == "reason-missing"
    done = send(path, {"decision": "decline", "reason": "No."}, headers).json()
    assert (done["state"], done["possible"]) == ("DECLINED", ["approve"])


def test_a_withdrawn_submission_is_restored_with_the_scope_for_it(cast, systems):
    path = f"/submissions/{systems[0].pk}"
    weak = authorization(cast.submitter, "read", "submit")
    headers = authorization(cast.submitter)
    assert send(f"{path}/withdraw/", {}, headers).json()["state"] == "WITHDRAWN"
    assert send(f"{path}/restore/", {}, weak).status_code == 403
    assert send(f"{path}/restore/", {}, authorization(cast.rival)).status_code == 404
    assert send(f"{path}/restore/", {}, headers).json()["state"] == "MEASURED"
    again = send(f"{path}/restore/", {}, headers)
    assert (again.status_code, again.json()["code"]) == (409, "not-restorable")
