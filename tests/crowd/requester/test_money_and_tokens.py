import re
import threading
from collections import Counter

import pytest

from crowd.models import RequesterAssignment, RequesterEntry
from crowd.requester.services import access_keys
from genie.lib.errors import GenieError
from tests.crowd.requester.making import balance, do, post, refused, take, worker

pytestmark = pytest.mark.every_engine


def test_posting_holds_and_approval_charges_the_reward_and_the_fee(desk):
    hit = post(desk, MaxAssignments=2)
    assert balance(desk) == ("99.04", "0.96")
    first, second = do(hit, worker("Wa")), do(hit, worker("Wb"))
    assert balance(desk) == ("99.04", "0.96")
    desk.client.approve_assignment(AssignmentId=first)
    assert balance(desk) == ("99.04", "0.48")
    desk.client.reject_assignment(AssignmentId=second, RequesterFeedback="Empty")
    assert balance(desk) == ("99.52", "0.00")


def test_fees_follow_the_published_rates(desk):
    held = 0.0
    for reward, n, more in (
        ("0.01", 1, 0.02),
        ("0.40", 9, 4.32),
        ("0.40", 10, 5.60),
        ("1", 1, 1.20),
    ):
        post(desk, Reward=reward, MaxAssignments=n)
        held += more
        assert balance(desk)[1] == f"{held:.2f}", reward


def test_what_expires_unused_is_free_again_but_open_work_is_not(desk, hands):
    hit = post(desk, MaxAssignments=3)
    take(hit, worker())
    desk.client.update_expiration_for_hit(HITId=hit, ExpireAt=0)
    assert balance(desk) == ("99.52", "0.48")
    hands.forward(seconds=600)
    assert balance(desk) == ("100.00", "0.00")


def test_nothing_is_posted_extended_or_paid_beyond_the_account(open_desk, hands):
    desk = open_desk(dollars=1)
    hit = post(desk)
    dear = {"Reward": "0.44", "UniqueRequestToken": "row-1"}
    message = refused("InsufficientFunds", post, desk=desk, **dear)
    assert "insufficient funds" in message
    more = {"HITId": hit, "NumberOfAdditionalAssignments": 2}
    extend = desk.client.create_additional_assignments_for_hit
    refused("InsufficientFunds", extend, **more)
    done = do(hit)
    desk.client.reject_assignment(AssignmentId=done, RequesterFeedback="Empty")
    who = desk.client.get_assignment(AssignmentId=done)["Assignment"]["WorkerId"]
    bonus = {"AssignmentId": done, "WorkerId": who, "Reason": "Good"}
    refused("InsufficientFunds", desk.client.send_bonus, **bonus, BonusAmount="0.84")
    desk.client.send_bonus(**bonus, BonusAmount="0.83")
    assert balance(desk) == ("0.00", "0.00")
    again = {"AssignmentId": done, "OverrideRejection": True}
    refused("InsufficientFunds", desk.client.approve_assignment, **again)
    assert balance(desk) == ("0.00", "0.00")
    access_keys.deposit(desk.requester, 100, key="more")
    assert post(desk, **dear)  # a refused request uses no token


def test_bonuses_go_to_the_worker_of_submitted_work_within_six_months(desk, hands):
    hit = post(desk, MaxAssignments=2, AutoApprovalDelayInSeconds=0)
    done = do(hit, worker("Wa"))
    open_work = take(hit, worker("Wb"))
    wa, wb = (row.worker.customer_id for row in RequesterAssignment.own.order_by("pk"))

    def refused_to(who, work, code):
        fields = {"BonusAmount": "0.10", "Reason": "Good", "WorkerId": who}
        refused(code, desk.client.send_bonus, AssignmentId=work, **fields)

    refused_to(wb, done, "InvalidParameterValue")
    refused_to(wb, open_work.entity_id, "InvalidAssignmentState")
    hands.forward(days=183, seconds=1)
    refused_to(wa, done, "InvalidParameterValue")


def test_the_same_token_posts_once_a_day(desk, hands):
    hit = post(desk, UniqueRequestToken="row-1")
    again = {"desk": desk, "UniqueRequestToken": "row-1"}
    message = refused("HitAlreadyExists", post, **again)
    assert re.search(r'HIT with ID "([A-Z0-9]+)"', message).group(1) == hit
    assert balance(desk)[1] == "0.48"
    hands.forward(hours=24)
    assert post(desk, UniqueRequestToken="row-1") != hit


def test_bonuses_extensions_and_ends_are_not_repeated(desk, hands):
    hit = post(desk)
    done = do(hit)
    who = desk.client.get_assignment(AssignmentId=done)["Assignment"]["WorkerId"]
    bonus = {
        "AssignmentId": done,
        "WorkerId": who,
        "BonusAmount": "1.00",
        "Reason": "Good",
    }
    more = {"HITId": hit, "NumberOfAdditionalAssignments": 1}
    token, client = {"UniqueRequestToken": "t"}, desk.client
    for call, arguments in (
        (client.send_bonus, bonus | token),
        (client.create_additional_assignments_for_hit, more | token),
        (client.update_expiration_for_hit, {"HITId": hit, "ExpireAt": 0}),
    ):
        call(**arguments)
        message = refused("InvalidParameterValue", call, **arguments)
        assert "already been processed" in message
    assert desk.client.get_hit(HITId=hit)["HIT"]["MaxAssignments"] == 2
    paid = desk.client.list_bonus_payments(AssignmentId=done)
    assert paid["NumResults"] == 1


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
    moved = Counter()
    for entry in RequesterEntry.own.all():
        moved[entry.kind] += entry.amount_cents
    sums = {"DEPOSIT": 10_000, "REWARD": -80, "FEE": -16, "BONUS": -2, "BONUS_FEE": -1}
    assert moved == sums
    assert balance(desk) == ("99.01", "0.00")


def test_a_deposit_counts_once_and_must_be_an_amount(desk, staff):
    access_keys.deposit(desk.requester, 500, key="invoice 7", by=staff)
    access_keys.deposit(desk.requester, 500, key="invoice 7", by=staff)
    assert balance(desk) == ("105.00", "0.00")
    for cents in (0, -1, 10**12):
        with pytest.raises(GenieError):
            access_keys.deposit(desk.requester, cents, key="x", by=staff)
