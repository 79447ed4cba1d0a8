"""Several requesters never see each other's data."""

import pytest
from botocore.exceptions import ClientError
from django.urls import reverse

from crowd.models import RequesterAssignment, RequesterHIT
from tests.crowd.requester.making import (
    KEY,
    TEST,
    TYPE,
    do,
    html,
    post,
    qualification,
    worker,
)
from tests.crowd.requester.on_site import OnSite

pytestmark = pytest.mark.every_engine


@pytest.fixture
def two(open_desk):
    return open_desk("Rita"), open_desk("Ravi")


def test_nothing_of_another_requester_can_be_read_or_changed(two):
    rita, ravi = two
    hit = post(rita, MaxAssignments=2)
    done = do(hit)
    shown = rita.client.get_hit(HITId=hit)["HIT"]
    who = rita.client.get_assignment(AssignmentId=done)["Assignment"]["WorkerId"]
    kind = qualification(rita)
    rita.client.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=who
    )
    own = post(ravi)
    pair = {"QualificationTypeId": kind, "WorkerId": who}
    need = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
    for name, arguments in {
        "get_hit": {"HITId": hit},
        "delete_hit": {"HITId": hit},
        "update_expiration_for_hit": {"HITId": hit, "ExpireAt": 0},
        "update_hit_review_status": {"HITId": hit},
        "update_hit_type_of_hit": {"HITId": own, "HITTypeId": shown["HITTypeId"]},
        "create_additional_assignments_for_hit": {
            "HITId": hit,
            "NumberOfAdditionalAssignments": 1,
        },
        "create_hit_with_hit_type": {
            "HITTypeId": shown["HITTypeId"],
            "LifetimeInSeconds": 60,
            "Question": html(),
        },
        "list_assignments_for_hit": {"HITId": hit},
        "list_reviewable_hits": {"HITTypeId": shown["HITTypeId"]},
        "list_review_policy_results_for_hit": {"HITId": hit},
        "list_bonus_payments": {"HITId": hit},
        "get_assignment": {"AssignmentId": done},
        "get_file_upload_url": {"AssignmentId": done, "QuestionIdentifier": "x"},
        "approve_assignment": {"AssignmentId": done},
        "reject_assignment": {"AssignmentId": done, "RequesterFeedback": "x"},
        "send_bonus": {
            "AssignmentId": done,
            "WorkerId": who,
            "BonusAmount": "1",
            "Reason": "x",
        },
        "get_qualification_type": {"QualificationTypeId": kind},
        "update_qualification_type": {"QualificationTypeId": kind},
        "delete_qualification_type": {"QualificationTypeId": kind},
        "get_qualification_score": pair,
        "associate_qualification_with_worker": pair,
        "disassociate_qualification_from_worker": pair,
        "list_workers_with_qualification_type": {"QualificationTypeId": kind},
        "list_hits_for_qualification_type": {"QualificationTypeId": kind},
        "list_qualification_requests": {"QualificationTypeId": kind},
        "create_hit_type": {**TYPE, "QualificationRequirements": need},
        "create_worker_block": {"WorkerId": who, "Reason": "x"},
        "delete_worker_block": {"WorkerId": who},
        "update_notification_settings": {
            "HITTypeId": shown["HITTypeId"],
            "Active": True,
        },
    }.items():
        with pytest.raises(ClientError) as caught:
            getattr(ravi.client, name)(**arguments)
        status = caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
        assert status == 400, name
    assert [one["HITId"] for one in ravi.client.list_hits()["HITs"]] == [own]
    for mine in (False, True):
        types = ravi.client.list_qualification_types(
            MustBeRequestable=True, MustBeOwnedByCaller=mine
        )
        assert types["NumResults"] == 0
    assert ravi.client.list_reviewable_hits()["NumResults"] == 0
    assert RequesterAssignment.objects.get(entity_id=done).state == "Submitted"
    rita.client.approve_assignment(AssignmentId=done)
    told = ravi.client.notify_workers(Subject="x", MessageText="y", WorkerIds=[who])
    assert told["NotifyWorkersFailureStatuses"][0]["WorkerId"] == who
    assert RequesterHIT.objects.get(entity_id=hit).max_assignments == 2
    assert ravi.client.get_account_balance()["OnHoldBalance"] == "0.48"


def test_the_same_worker_values_and_tokens_are_two_requesters_own(two):
    names = set()
    assert len({desk.client.create_hit_type(**TYPE)["HITTypeId"] for desk in two}) == 2
    for desk in two:
        done = do(post(desk, UniqueRequestToken="row-1"), worker("Wanda"))
        assert desk.client.list_hits()["NumResults"] == 1
        got = desk.client.get_assignment(AssignmentId=done)["Assignment"]
        names.add(got["WorkerId"])
    assert len(names) == 2
    assert not any("Wanda" in name for name in names)


def test_what_a_worker_does_for_one_is_nothing_to_the_other(two):
    rita, ravi = two
    wanda = OnSite()
    kinds = [qualification(rita), qualification(ravi, AutoGranted=True)]
    needs = [[{"QualificationTypeId": kind, "Comparator": "Exists"}] for kind in kinds]
    # of the same name, and still another one
    for kind in kinds:
        wanda.client.post(reverse("work:requester-qualification", args=[kind]))
    first = post(rita, QualificationRequirements=needs[0])
    second = post(ravi, QualificationRequirements=needs[1])
    assert wanda.accept(first) is None
    turn = wanda.accept(second)
    (asked,) = rita.client.list_qualification_requests()["QualificationRequests"]
    assert ravi.client.list_qualification_requests()["NumResults"] == 0
    for name in ("accept", "reject"):
        with pytest.raises(ClientError):
            getattr(ravi.client, f"{name}_qualification_request")(
                QualificationRequestId=asked["QualificationRequestId"]
            )
    assert asked["WorkerId"] != turn.worker.customer_id
    _, known = wanda.frame(wanda.get("turn", turn.entity_id))
    assert known["workerId"] == turn.worker.customer_id
    assert asked["WorkerId"] not in wanda.get("turn", turn.entity_id).text
    # one of them blocks; the other's work stays open
    rita.client.create_worker_block(WorkerId=asked["WorkerId"], Reason="x")
    post(rita, Title="Closed to Wanda")
    post(ravi, Title="Open to Wanda")
    listed = wanda.get("requests").text
    assert "Open to Wanda" in listed
    assert "Closed to Wanda" not in listed
    assert ravi.client.list_worker_blocks()["NumResults"] == 0


def test_workers_see_what_concerns_them_and_no_more_of_a_requester(two):
    rita, _ = two
    wanda, walt = OnSite(), OnSite("walt")
    kind = qualification(
        rita, Test=TEST, AnswerKey=KEY, TestDurationInSeconds=60, Keywords="secret-word"
    )
    hit = post(rita, RequesterAnnotation="secret-note", MaxAssignments=2)
    done = wanda.do(hit, mood="secret-answer")
    rita.client.reject_assignment(AssignmentId=done, RequesterFeedback="secret-reason")
    turn = walt.accept(hit)
    seen = "".join(
        page.text
        for page in (
            walt.get("home"),
            walt.get("requests"),
            walt.get("turn", turn.entity_id),
            walt.get("requester-qualification", kind),
            walt.get("earnings"),
        )
    )
    for secret in ("note", "answer", "reason", "word"):
        assert f"secret-{secret}" not in seen
    for hidden in (rita.key.key_id, rita.secret, "AnswerKey", str(wanda.worker)):
        assert hidden not in seen
    assert walt.get("turn", done).status_code == 404
