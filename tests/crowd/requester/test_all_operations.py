"""One requester's life, by an unmodified client: each operation does its work once."""

import re

import pytest
from botocore.exceptions import ClientError

from crowd.models import (
    Message,
    QualificationRequest,
    QualificationType,
    RequesterEvent,
)
from crowd.requester.services import turns
from tests.crowd.requester.making import (
    KEY,
    SCHEMAS,
    TEST,
    TYPE,
    do,
    external,
    html,
    post,
    qualification,
    refused,
    take,
    worker,
)
from tests.moto_server import client as sqs_client

pytestmark = pytest.mark.every_engine

# Refused on purpose: nothing here takes files.
NEVER_ANSWERED = {"GetFileUploadURL"}
NOTICE = {
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
}


def ask_for(qualification_type_id, who, requester):
    kind = QualificationType.objects.get(entity_id=qualification_type_id)
    return QualificationRequest.objects.create(
        qualification_type=kind,
        worker=turns.known_as(requester, who),
        submitted_at=kind.created_at,
        answer="<x/>",
    ).entity_id


def hits_and_work(client, desk, queue):
    notice = {**NOTICE, "Destination": queue}
    kind = client.create_hit_type(**TYPE)["HITTypeId"]
    assert client.create_hit_type(**TYPE)["HITTypeId"] == kind
    client.send_test_event_notification(Notification=notice, TestEventType="Ping")
    client.update_notification_settings(HITTypeId=kind, Notification=notice)
    hit = client.create_hit_with_hit_type(
        HITTypeId=kind,
        LifetimeInSeconds=3600,
        MaxAssignments=3,
        Question=external(),
        RequesterAnnotation="row 7",
    )["HIT"]
    assert (hit["Expiration"] - hit["CreationTime"]).total_seconds() == 3600
    client.create_additional_assignments_for_hit(
        HITId=hit["HITId"], NumberOfAdditionalAssignments=1
    )
    names = ["Wanda", "Walt", "Wu", "Willa"]
    done = [do(hit["HITId"], worker(name)) for name in names]
    listed = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [one["AssignmentId"] for one in listed] == done
    assert client.list_reviewable_hits()["HITs"][0]["HITId"] == hit["HITId"]
    client.update_hit_review_status(HITId=hit["HITId"])
    client.list_reviewable_hits()
    client.list_reviewable_hits(Status="Reviewing")
    for assignment in done[:-1]:
        client.approve_assignment(AssignmentId=assignment, RequesterFeedback="Thanks")
    client.reject_assignment(AssignmentId=done[-1], RequesterFeedback="It is empty.")
    client.approve_assignment(AssignmentId=done[-1], OverrideRejection=True)
    client.get_assignment(AssignmentId=done[0])
    client.send_bonus(
        WorkerId=listed[0]["WorkerId"],
        BonusAmount="1.5",
        AssignmentId=done[0],
        Reason="Careful",
    )
    client.list_bonus_payments(HITId=hit["HITId"])
    with pytest.raises(ClientError):
        client.get_file_upload_url(AssignmentId=done[0], QuestionIdentifier="mood")
    client.list_review_policy_results_for_hit(HITId=hit["HITId"])
    client.delete_hit(HITId=hit["HITId"])
    client.list_hits()
    events = [row.body["Events"][0]["EventType"] for row in RequesterEvent.own.all()]
    assert events == ["Ping", *["AssignmentSubmitted"] * 4, "HITReviewable"]
    return listed[0]["WorkerId"]


def another_type_and_an_early_end(client):
    hit = client.create_hit(LifetimeInSeconds=60, Question=html(), **TYPE)["HIT"]
    kind = client.create_hit_type(**{**TYPE, "Reward": "0.55"})["HITTypeId"]
    client.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=kind)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    client.get_hit(HITId=hit["HITId"])


def qualifications(client, desk, worker_id):
    made = client.create_qualification_type(
        Name="Reads German",
        Description="Has shown that they read German.",
        QualificationTypeStatus="Active",
        Test=TEST,
        AnswerKey=KEY,
        TestDurationInSeconds=300,
    )["QualificationType"]
    kind = made["QualificationTypeId"]
    client.update_qualification_type(
        QualificationTypeId=kind, RetryDelayInSeconds=60, Test=TEST
    )
    client.get_qualification_type(QualificationTypeId=kind)
    client.list_qualification_types(Query="german", MustBeRequestable=False)
    wanted = {"QualificationTypeId": kind, "Comparator": "Exists"}
    hit = post(desk, QualificationRequirements=[wanted])
    using = client.list_hits_for_qualification_type(QualificationTypeId=kind)
    assert [one["HITId"] for one in using["HITs"]] == [hit]
    pair = {"QualificationTypeId": kind, "WorkerId": worker_id}
    client.associate_qualification_with_worker(**pair, IntegerValue=90)
    client.get_qualification_score(**pair)
    client.disassociate_qualification_from_worker(**pair)
    revoked = client.list_workers_with_qualification_type(
        QualificationTypeId=kind, Status="Revoked"
    )
    assert [one["WorkerId"] for one in revoked["Qualifications"]] == [worker_id]
    yes = ask_for(kind, worker("Walt"), desk.requester)
    no = ask_for(kind, worker("Wu"), desk.requester)
    waiting = client.list_qualification_requests(QualificationTypeId=kind)
    shown = [one["QualificationRequestId"] for one in waiting["QualificationRequests"]]
    assert shown == [yes, no]
    client.accept_qualification_request(QualificationRequestId=yes, IntegerValue=70)
    client.reject_qualification_request(QualificationRequestId=no, Reason="Not yet")
    client.list_qualification_requests()
    client.delete_qualification_type(QualificationTypeId=kind)
    client.list_hits(MaxResults=100)


def people(client, worker_id):
    client.create_worker_block(WorkerId=worker_id, Reason="Copies")
    client.list_worker_blocks()
    client.delete_worker_block(WorkerId=worker_id)
    client.list_worker_blocks()
    before = Message.own.count()
    client.notify_workers(
        Subject="New work", MessageText="Come back.", WorkerIds=[worker_id, "A0NOBODY"]
    )
    assert Message.own.count() == before + 1


VARIES = re.compile(
    r"\b[0-9A-Z]{14,}\b|\b\d{10,13}(\.\d+)?\b|[0-9a-f]{8}(-[0-9a-f]{4,12}){4}"
)


def test_an_unmodified_client_uses_all_operations(desk, amazon, credentials, net):
    client = desk.client
    queue = sqs_client("sqs", amazon).create_queue(QueueName="all")["QueueUrl"]
    worker_id = hits_and_work(client, desk, queue)
    another_type_and_an_early_end(client)
    qualifications(client, desk, worker_id)
    people(client, worker_id)
    client.get_account_balance()
    assert len(desk.judge.called) == 39
    assert desk.judge.called - desk.judge.answered == NEVER_ANSWERED
    net("turk-answers.txt", VARIES.sub("(varies)", "".join(desk.judge.heard)))


def test_answers_come_back_as_the_documented_xml(desk):
    fields = [("mood", "très < bien"), ("mood", "x"), ("hitId", "no"), ("more", "a\0b")]
    hit = post(desk)
    do(hit, fields=fields)
    (got,) = desk.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert got["Answer"] == (
        '<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="'
        f'{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd">'
        "<Answer><QuestionIdentifier>mood</QuestionIdentifier>"
        "<FreeText>tr&#232;s &lt; bien|x</FreeText></Answer>"
        "<Answer><QuestionIdentifier>more</QuestionIdentifier>"
        "<FreeText>ab</FreeText></Answer></QuestionFormAnswers>"
    )
    hit = post(desk, MaxAssignments=2)
    take(hit, worker())
    shown = desk.client.get_hit(HITId=hit)["HIT"]
    assert shown["NumberOfAssignmentsPending"] == 1
    assert shown["NumberOfAssignmentsAvailable"] == 1
    assert desk.client.list_assignments_for_hit(HITId=hit)["Assignments"] == []


def test_a_search_of_many_words_is_no_slower_than_one_of_few(desk):
    made = {"QualificationTypeStatus": "Active", "Description": "Of an hour."}
    for name, keywords in (("Reads German", "texts"), ("Reads Dutch", "books")):
        desk.client.create_qualification_type(Name=name, Keywords=keywords, **made)

    def names(query):
        found = desk.client.list_qualification_types(
            Query=query, MustBeRequestable=False
        )
        return [one["Name"] for one in found["QualificationTypes"]]

    assert names("hour reads TEXTS") == ["Reads German"]
    assert names("hour german books") == []
    # Three times as much for each word would be more than a database takes.
    assert names(" ".join(f"w{n}" for n in range(12))) == []
    assert names(" ".join(f"w{n}" for n in range(200))) == []


def test_the_services_own_qualification_types_are_known(desk):
    approved = "00000000000000000040"
    one = desk.client.get_qualification_type(QualificationTypeId=approved)
    assert one["QualificationType"]["Name"] == "Worker_NumberHITsApproved"
    assert one["QualificationType"]["IsRequestable"] is False
    made = qualification(desk)

    def ids(**query):
        pages, token = [], {}
        while True:
            got = desk.client.list_qualification_types(MaxResults=2, **query, **token)
            pages += [one["QualificationTypeId"] for one in got["QualificationTypes"]]
            if "NextToken" not in got:
                return pages
            token = {"NextToken": got["NextToken"]}

    everything = ids(MustBeRequestable=False)
    assert everything[-1] == made
    assert len(everything) == len(set(everything)) == 6
    assert approved in everything
    assert ids(MustBeRequestable=True) == [made]
    assert ids(MustBeRequestable=False, MustBeOwnedByCaller=True) == [made]
    assert ids(MustBeRequestable=False, Query="locale") == ["00000000000000000071"]
    refused(
        "QualificationTypeDoesNotExist",
        desk.client.delete_qualification_type,
        QualificationTypeId=approved,
    )
