import pytest

from crowd.models import RequesterHIT
from crowd.requester.services import turns
from genie.lib.errors import GenieError
from tests.crowd.requester.making import (
    do,
    post,
    qualification,
    refused,
    state_of,
    status_of,
    take,
    worker,
)

pytestmark = pytest.mark.every_engine


def test_a_hit_goes_from_assignable_to_disposed(desk, hands):
    hit = post(desk)
    assert status_of(desk, hit) == "Assignable"
    message = refused("InvalidHITState", desk.client.delete_hit, HITId=hit)
    assert "'Assignable'" in message
    assert "Reviewing, Reviewable" in message
    refused("InvalidHITState", desk.client.update_hit_review_status, HITId=hit)
    who = worker()
    open_work = take(hit, who)
    assert status_of(desk, hit) == "Unassignable"
    turns.submit(open_work, who, [("mood", "good")])
    assert status_of(desk, hit) == "Reviewable"
    refused("InvalidHITState", desk.client.delete_hit, HITId=hit)  # not decided
    desk.client.approve_assignment(AssignmentId=open_work.entity_id)
    desk.client.update_hit_review_status(HITId=hit)
    assert status_of(desk, hit) == "Reviewing"
    desk.client.update_hit_review_status(HITId=hit, Revert=True)
    assert status_of(desk, hit) == "Reviewable"
    desk.client.delete_hit(HITId=hit)
    message = refused("InvalidHITState", desk.client.delete_hit, HITId=hit)
    assert "'Disposed'" in message
    refused("HITDoesNotExist", desk.client.get_hit, HITId=hit)


def test_expired_work_that_was_accepted_may_still_come_in(desk, hands):
    hit = post(desk, MaxAssignments=2, LifetimeInSeconds=60)
    who = worker()
    open_work = take(hit, who)
    hands.forward(seconds=60)
    assert status_of(desk, hit) == "Unassignable"
    with pytest.raises(GenieError, match="no longer available"):
        take(hit, worker("Walt"))
    hands.forward(seconds=500)
    turns.submit(open_work, who, [("mood", "good")])
    assert status_of(desk, hit) == "Reviewable"


def test_work_whose_time_ran_out_or_that_is_given_back_frees_its_place(desk, hands):
    hit = post(desk)
    who = worker()
    open_work = take(hit, who)
    hands.forward(seconds=600)
    with pytest.raises(GenieError, match="time is up"):
        turns.submit(open_work, who, [("mood", "late")])
    assert status_of(desk, hit) == "Assignable"
    assert state_of(open_work.entity_id) == "Returned"
    again = take(hit, who)
    assert again.pk != open_work.pk
    assert take(hit, who) == again
    assert turns.give_back(again, who)
    assert not turns.give_back(again, who)
    assert status_of(desk, hit) == "Assignable"
    do(hit, worker("Walt"))


def test_nobody_does_a_hit_twice_nor_sends_in_for_another(desk):
    hit = post(desk, MaxAssignments=2)
    who = worker()
    done = take(hit, who)
    with pytest.raises(GenieError, match="not assigned"):
        turns.submit(done, worker("Walt"), [("mood", "x")])
    turns.submit(done, who, [("mood", "x")])
    with pytest.raises(GenieError, match="already been submitted"):
        turns.submit(done, who, [("mood", "y")])
    with pytest.raises(GenieError, match="already"):
        take(hit, who)
    (got,) = desk.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert "<FreeText>x</FreeText>" in got["Answer"]


def test_work_that_nobody_decides_on_is_approved_in_time(desk, hands):
    done = do(post(desk, AutoApprovalDelayInSeconds=3600))
    hands.forward(seconds=3599)
    desk.client.list_hits()
    assert state_of(done) == "Submitted"
    hands.forward(seconds=1)
    got = desk.client.get_assignment(AssignmentId=done)["Assignment"]
    assert got["AssignmentStatus"] == "Approved"
    assert got["ApprovalTime"] == got["AutoApprovalTime"]
    refused(
        "InvalidAssignmentState",
        desk.client.reject_assignment,
        AssignmentId=done,
        RequesterFeedback="too late",
    )
    assert state_of(do(post(desk, AutoApprovalDelayInSeconds=0))) == "Approved"


def test_approval_is_final_and_a_rejection_can_be_overridden_for_30_days(desk, hands):
    hit = post(desk, MaxAssignments=3)
    first, second, third = (do(hit, worker(name)) for name in ("Wa", "Wb", "Wc"))
    desk.client.approve_assignment(AssignmentId=first)
    for call in (desk.client.approve_assignment, desk.client.reject_assignment):
        more = (
            {"RequesterFeedback": "x"} if call == desk.client.reject_assignment else {}
        )
        message = refused("InvalidAssignmentState", call, AssignmentId=first, **more)
        assert "can be called with a status of: Submitted" in message
    for one in (second, third):
        desk.client.reject_assignment(AssignmentId=one, RequesterFeedback="Empty")
    refused(
        "InvalidAssignmentState", desk.client.approve_assignment, AssignmentId=second
    )
    desk.client.approve_assignment(AssignmentId=second, OverrideRejection=True)
    assert state_of(second) == "Approved"
    hands.forward(days=30, seconds=1)
    refused(
        "InvalidAssignmentState",
        desk.client.approve_assignment,
        AssignmentId=third,
        OverrideRejection=True,
    )


def test_a_hit_that_is_full_or_expired_opens_again_within_limits(desk, hands):
    hit = post(desk)
    do(hit)
    desk.client.create_additional_assignments_for_hit(
        HITId=hit, NumberOfAdditionalAssignments=8
    )
    assert status_of(desk, hit) == "Assignable"
    refused(
        "InvalidMaximumAssignmentsIncrease",
        desk.client.create_additional_assignments_for_hit,
        HITId=hit,
        NumberOfAdditionalAssignments=1,
    )
    hit = post(desk)
    desk.client.update_expiration_for_hit(HITId=hit, ExpireAt=0)
    assert status_of(desk, hit) == "Reviewable"
    hands.forward(seconds=5)
    later = int(hands.time.timestamp()) + 600
    desk.client.update_expiration_for_hit(HITId=hit, ExpireAt=later)
    assert status_of(desk, hit) == "Assignable"


def test_a_hit_that_nobody_touched_for_120_days_is_gone(desk, hands):
    hit = post(desk)
    hands.forward(seconds=3600, days=119)
    assert desk.client.list_hits()["NumResults"] == 1
    hands.forward(days=1)
    assert desk.client.list_hits()["NumResults"] == 0
    refused("HITDoesNotExist", desk.client.get_hit, HITId=hit)


def test_the_type_of_a_hit_stays_once_somebody_accepted_it(desk):
    hit = post(desk)
    other = desk.client.get_hit(HITId=post(desk, Reward="0.10"))["HIT"]["HITTypeId"]
    take(hit, worker())
    refused(
        "InvalidHITState",
        desk.client.update_hit_type_of_hit,
        HITId=hit,
        HITTypeId=other,
    )
    hit = post(desk)
    open_work = take(hit, worker())
    message = refused(
        "InvalidAssignmentState",
        desk.client.get_assignment,
        AssignmentId=open_work.entity_id,
    )
    assert "Reviewable,Approved,Rejected" in message


def test_only_workers_who_qualify_and_are_welcome_get_work(desk):
    kind = qualification(desk)
    need = {
        "QualificationTypeId": kind,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [80],
    }
    who = worker()
    name = turns.known_as(desk.requester, who).customer_id
    hit = post(desk, QualificationRequirements=[need])
    for value, welcome in ((79, False), (80, True)):
        desk.client.associate_qualification_with_worker(
            QualificationTypeId=kind, WorkerId=name, IntegerValue=value
        )
        if not welcome:
            with pytest.raises(GenieError, match="qualifications"):
                take(hit, who)
    desk.client.create_worker_block(WorkerId=name, Reason="no")
    with pytest.raises(GenieError, match="blocked"):
        take(hit, who)
    desk.client.delete_worker_block(WorkerId=name)
    assert take(hit, who)


def test_pages_hold_all_hits_once_and_end_with_an_empty_one(desk):
    posted = {post(desk, Reward="0.01") for _ in range(6)}
    pages = list(
        desk.client.get_paginator("list_hits").paginate(
            PaginationConfig={"PageSize": 3}
        )
    )
    assert [page["NumResults"] for page in pages] == [3, 3, 0]
    assert {hit["HITId"] for page in pages for hit in page["HITs"]} == posted
    token = pages[0]["NextToken"]
    with pytest.raises(desk.client.exceptions.ClientError):
        desk.client.list_worker_blocks(NextToken=token)
    assert RequesterHIT.own.count() == 6
