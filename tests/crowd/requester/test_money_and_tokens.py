import re
import threading

import pytest

from crowd.models import RequesterEntry
from crowd.requester.services import access_keys
from genie.lib.errors import GenieError
from tests.crowd.requester.making import balance, do, post, refused, take, worker


@pytest.mark.every_engine
def test_posting_holds_and_approval_charges_the_reward_and_the_fee(desk):
    hit = post(desk, MaxAssignments=2)
    assert balance(desk) == ("99.04", "0.96")
    first, second = do(hit, worker("Wa")), do(hit, worker("Wb"))
    assert balance(desk) == ("99.04", "0.96")
    desk.client.approve_assignment(AssignmentId=first)
    assert balance(desk) == ("99.04", "0.48")
    desk.client.reject_assignment(AssignmentId=second, RequesterFeedback="Empty")
    assert balance(desk) == ("99.52", "0.00")


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("reward", "n", "held"),
    [("0.01", 1, "0.02"), ("0.40", 9, "4.32"), ("0.40", 10, "5.60"), ("1", 1, "1.20")],
)
def test_fees_follow_the_published_rates(desk, reward, n, held):
    post(desk, Reward=reward, MaxAssignments=n)
    assert balance(desk)[1] == held


@pytest.mark.every_engine
def test_what_expires_unused_is_free_again_but_open_work_is_not(desk, hands):
    hit = post(desk, MaxAssignments=3)
    take(hit, worker())
    desk.client.update_expiration_for_hit(HITId=hit, ExpireAt=0)
    assert balance(desk) == ("99.52", "0.48")
    hands.forward(seconds=600)
    assert balance(desk) == ("100.00", "0.00")


@pytest.mark.every_engine
def test_nothing_is_posted_extended_or_paid_beyond_the_account(open_desk, hands):
    desk = open_desk(dollars=1)
    hit = post(desk)
    message = refused(
        "InsufficientFunds", lambda: post(desk, Reward="0.44", MaxAssignments=1)
    )
    assert "insufficient funds" in message
    refused(
        "InsufficientFunds",
        desk.client.create_additional_assignments_for_hit,
        HITId=hit,
        NumberOfAdditionalAssignments=2,
    )
    done = do(hit)
    desk.client.reject_assignment(AssignmentId=done, RequesterFeedback="Empty")
    who = desk.client.get_assignment(AssignmentId=done)["Assignment"]["WorkerId"]
    bonus = {"AssignmentId": done, "WorkerId": who, "Reason": "Good"}
    refused("InsufficientFunds", desk.client.send_bonus, **bonus, BonusAmount="0.84")
    desk.client.send_bonus(**bonus, BonusAmount="0.83")
    assert balance(desk) == ("0.00", "0.00")
    refused(
        "InsufficientFunds",
        desk.client.approve_assignment,
        AssignmentId=done,
        OverrideRejection=True,
    )
    assert balance(desk) == ("0.00", "0.00")


@pytest.mark.every_engine
def test_bonuses_go_to_the_worker_of_submitted_work_within_six_months(desk, hands):
    hit = post(desk, MaxAssignments=2, AutoApprovalDelayInSeconds=0)
    done = do(hit, worker("Wa"))
    open_work = take(hit, worker("Wb"))
    send, names = desk.client.send_bonus, {}
    for one in (done, open_work.entity_id):
        from crowd.models import RequesterAssignment

        row = RequesterAssignment.objects.get(entity_id=one)
        names[one] = row.worker.customer_id
    fields = {"BonusAmount": "0.10", "Reason": "Good"}
    refused(
        "InvalidParameterValue",
        send,
        AssignmentId=done,
        WorkerId=names[open_work.entity_id],
        **fields,
    )
    refused(
        "InvalidAssignmentState",
        send,
        AssignmentId=open_work.entity_id,
        WorkerId=names[open_work.entity_id],
        **fields,
    )
    hands.forward(days=184)
    refused(
        "InvalidParameterValue",
        send,
        AssignmentId=done,
        WorkerId=names[done],
        **fields,
    )


@pytest.mark.every_engine
def test_the_same_token_posts_once_a_day(desk, hands):
    hit = post(desk, UniqueRequestToken="row-1")
    message = refused(
        "HitAlreadyExists", lambda: post(desk, UniqueRequestToken="row-1")
    )
    assert re.search(r'HIT with ID "([A-Z0-9]+)"', message).group(1) == hit
    assert balance(desk)[1] == "0.48"
    hands.forward(hours=24)
    assert post(desk, UniqueRequestToken="row-1") != hit


@pytest.mark.every_engine
def test_a_refused_request_uses_no_token(open_desk):
    desk = open_desk(dollars=1)
    refused(
        "InsufficientFunds",
        lambda: post(desk, Reward="5", UniqueRequestToken="row-1"),
    )
    assert post(desk, UniqueRequestToken="row-1")


@pytest.mark.every_engine
def test_bonuses_extensions_and_ends_are_not_repeated(desk, hands):
    hit = post(desk)
    done = do(hit)
    who = desk.client.get_assignment(AssignmentId=done)["Assignment"]["WorkerId"]
    for call, arguments in (
        (
            desk.client.send_bonus,
            {
                "AssignmentId": done,
                "WorkerId": who,
                "BonusAmount": "1.00",
                "Reason": "Good",
                "UniqueRequestToken": "t",
            },
        ),
        (
            desk.client.create_additional_assignments_for_hit,
            {
                "HITId": hit,
                "NumberOfAdditionalAssignments": 1,
                "UniqueRequestToken": "t",
            },
        ),
        (desk.client.update_expiration_for_hit, {"HITId": hit, "ExpireAt": 0}),
    ):
        call(**arguments)
        message = refused("InvalidParameterValue", call, **arguments)
        assert "already been processed" in message
    assert desk.client.get_hit(HITId=hit)["HIT"]["MaxAssignments"] == 2
    paid = desk.client.list_bonus_payments(AssignmentId=done)
    assert paid["NumResults"] == 1


@pytest.mark.every_engine
def test_one_token_from_many_threads_posts_one_hit(desk):
    outcomes = []

    def go():
        try:
            outcomes.append(post(desk, UniqueRequestToken="once"))
        except desk.client.exceptions.RequestError as error:
            outcomes.append(error.response["TurkErrorCode"])

    threads = [threading.Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("AWS.MechanicalTurk.HitAlreadyExists") == 5
    assert desk.client.list_hits()["NumResults"] == 1


@pytest.mark.every_engine
def test_money_is_conserved(desk, hands):
    hit = post(desk, MaxAssignments=3)
    ids = [do(hit, worker(name)) for name in ("Wa", "Wb", "Wc")]
    desk.client.approve_assignment(AssignmentId=ids[0])
    desk.client.reject_assignment(AssignmentId=ids[1], RequesterFeedback="Empty")
    hands.forward(days=2)  # the third is approved by time
    who = desk.client.get_assignment(AssignmentId=ids[0])["Assignment"]["WorkerId"]
    desk.client.send_bonus(
        AssignmentId=ids[0], WorkerId=who, BonusAmount="0.02", Reason="Good"
    )
    moved = {
        kind: sum(
            entry.amount_cents for entry in RequesterEntry.objects.filter(kind=kind)
        )
        for kind in RequesterEntry.Kind.values
    }
    assert moved == {
        "DEPOSIT": 10_000,
        "REWARD": -80,
        "FEE": -16,
        "BONUS": -2,
        "BONUS_FEE": -1,
    }
    assert balance(desk) == ("99.01", "0.00")


@pytest.mark.every_engine
def test_a_deposit_counts_once_and_must_be_an_amount(desk, staff):
    access_keys.deposit(desk.requester, 500, key="invoice 7", by=staff)
    access_keys.deposit(desk.requester, 500, key="invoice 7", by=staff)
    assert balance(desk) == ("105.00", "0.00")
    for cents in (0, -1, 10**12):
        with pytest.raises(GenieError):
            access_keys.deposit(desk.requester, cents, key="x", by=staff)
