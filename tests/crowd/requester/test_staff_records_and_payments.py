import pytest
from botocore.exceptions import ClientError
from django.urls import reverse

from crowd.models import RequesterAssignment, RequesterBonus, WorkerRecord
from crowd.money.selectors.earnings import earnings
from crowd.requester.services import access_keys
from crowd.requester.services.requirements import ADULT, LOCALE
from crowd.requester.services.settle import settle_all
from tests.crowd.requester.making import do, post, state_of, take, worker
from tests.factories import act, signed_in

pytestmark = pytest.mark.every_engine

MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"


def place(country, division=None):
    value = {"Country": country}
    return [{**value, "Subdivision": division} if division else value]


def test_what_staff_noted_of_a_worker_decides(desk):
    us, new_york = place("US"), place("US", "NY")
    for n, (kind, comparator, values, record, met) in enumerate((
        (LOCALE, "EqualTo", us, {"country": "US"}, True),
        (LOCALE, "EqualTo", new_york, {"country": "US", "subdivision": "CA"}, False),
        (LOCALE, "In", [*place("GB"), *new_york], {"country": "US", "subdivision": "NY"}, True),
        (LOCALE, "NotIn", us, {"country": "IN"}, True),
        (LOCALE, "NotIn", us, {"country": ""}, False),
        (LOCALE, "NotEqualTo", us, None, False),
        (ADULT, "EqualTo", [1], {"adult": True}, True),
        (ADULT, "EqualTo", [1], {"adult": False}, False),
        (ADULT, "EqualTo", [1], None, False),
        (MASTERS, "Exists", None, {"master": True}, True),
        (MASTERS, "Exists", None, {"country": "US"}, False),
        (MASTERS, "DoesNotExist", None, {"country": "US"}, True),
    )):  # fmt: skip
        needed = {"QualificationTypeId": kind, "Comparator": comparator}
        if values:
            needed["LocaleValues" if kind == LOCALE else "IntegerValues"] = values
        who = worker(f"W{n}")
        if record is not None:
            WorkerRecord.objects.create(worker=who, **record)
        hit = post(desk, QualificationRequirements=[needed])
        if met:
            assert take(hit, who)
        else:
            with pytest.raises(Exception, match="qualifications"):
                take(hit, who)


def test_staff_keep_records_in_the_admin_with_codes_that_are_codes(desk, staff):
    who = worker()
    office = signed_in(staff)
    address = reverse("admin:crowd_workerrecord_add")
    bad = office.post(address, {"worker": who.pk, "country": "usa"})
    assert bad.status_code == 200
    office.post(address, {"worker": who.pk, "country": "US", "adult": "on"})
    record = WorkerRecord.own.get()
    assert (record.country, record.adult, record.master) == ("US", True, False)


def test_work_is_approved_and_given_back_in_time_without_a_call(desk, hands):
    done = do(post(desk, AutoApprovalDelayInSeconds=3600))
    open_work = take(post(desk), worker("Walt"))
    hands.forward(seconds=3600)
    settle_all()
    assert state_of(done) == "Approved"
    assert state_of(open_work.entity_id) == "Returned"
    before = desk.client.get_account_balance()
    settle_all()
    assert (
        desk.client.get_account_balance()["AvailableBalance"]
        == (before["AvailableBalance"])
    )


def test_approved_work_and_bonuses_are_paid_once_and_show_as_earned(desk, staff):
    who = worker()
    first, second = (do(post(desk, UniqueRequestToken=one), who) for one in "ab")
    rejected = do(post(desk, UniqueRequestToken="c"), who)
    desk.client.approve_assignment(AssignmentId=first)
    desk.client.reject_assignment(AssignmentId=rejected, RequesterFeedback="Empty")
    row = RequesterAssignment.objects.select_related("worker").get(entity_id=first)
    desk.client.send_bonus(
        WorkerId=row.worker.customer_id,
        AssignmentId=first,
        BonusAmount="0.10",
        Reason="x",
    )
    assert (earnings(who).pending, earnings(who).approved) == (40, 50)
    office = signed_in(staff)
    for name, rows in (
        ("requesterassignment", RequesterAssignment.own.all()),
        ("requesterbonus", RequesterBonus.own.all()),
    ):
        for said in ("Marked 1", "There is no work to pay"):
            yes = {"confirmed": "yes", "reference": "transfer 7"}
            page = act(office, f"crowd_{name}", "mark_paid_selected", *rows, **yes)
            assert said in page.text
    now = earnings(who)
    assert (now.pending, now.approved, now.paid) == (40, 0, 50)
    row.refresh_from_db()
    assert row.payment_reference == "transfer 7"
    assert state_of(second) == "Submitted"
    events = reverse("admin:crowd_requesterevent_changelist")
    assert office.get(events).status_code == 200


def test_keys_outlive_a_new_secret_while_the_old_one_is_listed(desk, settings, staff):
    old = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new " * 16, [old]
    assert desk.client.list_hits()["NumResults"] == 0
    key, secret = access_keys.create_key(desk.requester, staff)
    assert desk.connect(key.key_id, secret).list_hits()["NumResults"] == 0
    # who knows the old secret of the site can make up no secret of a new key
    forged = access_keys.secret_of(key.key_id, old)
    with pytest.raises(ClientError) as caught:
        desk.connect(key.key_id, forged).list_hits()
    assert caught.value.response["Error"]["Code"] == "InvalidSignatureException"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(ClientError):
        desk.client.list_hits()
    assert desk.connect(key.key_id, secret).list_hits()["NumResults"] == 0
