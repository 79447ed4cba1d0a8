"""The calls of amti, a command line for batches, in the order of its commands.

amti itself is on no package index; these are its calls and its habits: no tokens, ids
kept after the fact, a naive time to expire HITs, answers read from the XML.
"""

import json
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from tests.crowd.requester.making import html, refused
from tests.crowd.requester.test_forms_and_tests import FORM, mapped, take_test

NAMESPACE = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd}"
)
ROWS = [{"text": f"Sentence {n} <b> & more"} for n in range(3)]
TYPE = {
    "AutoApprovalDelayInSeconds": 86_400,
    "AssignmentDurationInSeconds": 3_600,
    "Reward": "0.40",
    "Title": "Read a sentence",
    "Keywords": "text",
    "Description": "Read a sentence and say how it reads.",
}


def page_of(row):
    text = row["text"].replace("&", "&amp;").replace("<", "&lt;")
    return html(f"<!doctype html><p>{text}</p><form><input name='rating'></form>")


@pytest.fixture
def qualification(desk):
    """create-qualificationtype"""
    made = desk.client.create_qualification_type(
        Name="Colours",
        Keywords="colours",
        Description="Knows colours.",
        QualificationTypeStatus="Active",
        Test=FORM,
        AnswerKey=mapped(""),
        TestDurationInSeconds=600,
        RetryDelayInSeconds=60,
    )
    return made["QualificationType"]["QualificationTypeId"]


@pytest.fixture
def batch(desk, qualification):
    """create-batch"""
    need = {
        "QualificationTypeId": qualification,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [7],
        "ActionsGuarded": "PreviewAndAccept",
    }
    kind = desk.client.create_hit_type(**TYPE, QualificationRequirements=[need])
    ids = [
        desk.client.create_hit_with_hit_type(
            HITTypeId=kind["HITTypeId"],
            Question=page_of(row),
            MaxAssignments=2,
            LifetimeInSeconds=86_400,
            RequesterAnnotation=json.dumps({"row": n}),
        )["HIT"]["HITId"]
        for n, row in enumerate(ROWS)
    ]
    return {"hittype_id": kind["HITTypeId"], "hit_ids": ids}


def assignments(desk, hit_id, *states):
    pages = desk.client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit_id, AssignmentStatuses=list(states), PaginationConfig={"PageSize": 1}
    )
    return [one for page in pages for one in page["Assignments"]]


def status(desk, batch):
    """status"""
    counts = {}
    for hit_id in batch["hit_ids"]:
        name = desk.client.get_hit(HITId=hit_id)["HIT"]["HITStatus"]
        counts[name] = counts.get(name, 0) + 1
    return counts


def answers_of(assignment):
    """extract: one row for each answer."""
    root = ElementTree.fromstring(assignment["Answer"])
    return {
        answer.find(f"{NAMESPACE}QuestionIdentifier").text: answer.find(
            f"{NAMESPACE}FreeText"
        ).text
        for answer in root.iter(f"{NAMESPACE}Answer")
    }


def test_a_batch_lives_from_its_creation_to_its_deletion(
    desk, batch, qualification, wanda, walt
):
    assert status(desk, batch) == {"Assignable": 3}
    assert wanda.accept(batch["hit_ids"][0]) is None
    for one in (wanda, walt):
        take_test(one, qualification, sky="blue", all=["red", "cyan"], age="30")
        for n, hit_id in enumerate(batch["hit_ids"]):
            one.do(hit_id, rating=f"{n} & <{one.user.username}> é")
    assert status(desk, batch) == {"Reviewable": 3}
    # review: all but one is approved
    for hit_id in batch["hit_ids"]:
        for one in assignments(desk, hit_id, "Submitted"):
            if answers_of(one)["rating"].startswith("0 & <walt>"):
                desk.client.reject_assignment(
                    AssignmentId=one["AssignmentId"], RequesterFeedback="Not read."
                )
            else:
                desk.client.approve_assignment(
                    AssignmentId=one["AssignmentId"], OverrideRejection=False
                )
    # save and extract
    saved = [
        one
        for hit_id in batch["hit_ids"]
        for one in assignments(desk, hit_id, "Submitted", "Approved", "Rejected")
    ]
    assert json.loads(json.dumps(saved, default=str)) is not None
    ratings = {answers_of(one)["rating"] for one in saved}
    assert ratings == {
        f"{n} & <{name}> é" for n in range(3) for name in ("wanda", "walt")
    }
    assert sorted(one["AssignmentStatus"] for one in saved).count("Rejected") == 1
    # delete
    for hit_id in batch["hit_ids"]:
        desk.client.delete_hit(HITId=hit_id)
        refused("HITDoesNotExist", desk.client.get_hit, HITId=hit_id)
    desk.client.delete_qualification_type(QualificationTypeId=qualification)
    left = desk.client.get_account_balance()
    assert left["AvailableBalance"] == "97.60"  # five times $0.48


def test_a_batch_that_is_stopped_expires_by_a_naive_time(desk, batch):
    for hit_id in batch["hit_ids"]:
        # as amti writes it: boto3 takes a time without a zone for UTC
        now = datetime.now(UTC).replace(tzinfo=None)
        desk.client.update_expiration_for_hit(HITId=hit_id, ExpireAt=now)
    assert status(desk, batch) == {"Reviewable": 3}
    assert desk.client.get_account_balance()["OnHoldBalance"] == "0.00"
    for hit_id in batch["hit_ids"]:
        desk.client.delete_hit(HITId=hit_id)
    assert desk.client.list_hits()["NumResults"] == 0


def test_work_that_is_waited_for_is_not_deleted(desk, batch, qualification, wanda):
    take_test(wanda, qualification, sky="blue", all=["red", "cyan"], age="30")
    hit_id = batch["hit_ids"][0]
    wanda.do(hit_id, rating="5")
    desk.client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    refused("InvalidHITState", desk.client.delete_hit, HITId=hit_id)
