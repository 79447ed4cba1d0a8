"""A requester says why; the worker reads it under Messages and can appeal once."""

import pytest
from botocore.exceptions import ClientError
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from crowd.models import Message, Profile, RequesterAssignment
from crowd.money.selectors.earnings import earnings
from crowd.requester.services import access_keys
from genie.lib.errors import GenieError
from quality.appeals import services
from quality.models import Appeal
from tests.crowd.requester.making import balance, post, state_of
from tests.crowd.requester.on_site import OnSite
from tests.factories import signed_in

WORDS = "I answered every <b>question</b>."


@pytest.fixture
def rejected(desk, wanda):
    done = wanda.do(post(desk, Title="Say how it reads"), mood="good")
    desk.client.reject_assignment(
        AssignmentId=done, RequesterFeedback="The <i>second</i> question is empty."
    )
    return RequesterAssignment.objects.get(entity_id=done)


def page_of(work):
    return reverse("appeals:requester", args=[work.entity_id])


def bonus(desk, done, **fields):
    work = RequesterAssignment.objects.get(entity_id=done)
    wanted = {"BonusAmount": "0.25", "Reason": "Thanks", **fields}
    return desk.client.send_bonus(
        WorkerId=work.worker.customer_id, AssignmentId=done, **wanted
    )


def test_a_rejection_and_a_bonus_need_words_and_an_approval_does_not(desk, wanda):
    done = wanda.do(post(desk), mood="good")
    for feedback in ("", "  \n"):
        with pytest.raises(ClientError) as caught:
            desk.client.reject_assignment(AssignmentId=done, RequesterFeedback=feedback)
        error = caught.value.response["Error"]
        assert error["Code"] == "ParameterValidationError"
        assert "RequesterFeedback" in error["Message"]
        assert "the worker reads it" in error["Message"]
        assert state_of(done) == "Submitted"
    desk.client.approve_assignment(AssignmentId=done, RequesterFeedback="")
    assert state_of(done) == "Approved"
    done = wanda.do(post(desk, AutoApprovalDelayInSeconds=0), mood="good")
    before = balance(desk)
    with pytest.raises(ClientError, match="valid for the parameter Reason"):
        bonus(desk, done, Reason=" ")
    assert balance(desk) == before
    assert not Message.own.exists()


def test_a_rejection_and_its_end_are_told_with_a_way_to_appeal(desk, wanda, rejected):
    page = wanda.get("messages").text
    assert "Say how it reads" in page
    assert "The &lt;i&gt;second&lt;/i&gt; question is empty." in page
    assert "From <bdi>Rita</bdi>" in page
    assert page_of(rejected) in page
    assert page_of(rejected) in wanda.get("earnings").text
    desk.client.approve_assignment(
        AssignmentId=rejected.entity_id, OverrideRejection=True
    )
    assert "approved" in wanda.worker.messages.first().text


def test_a_bonus_its_reason_and_what_requesters_write_stand_under_messages(desk, wanda):
    done = wanda.do(post(desk, AutoApprovalDelayInSeconds=0), mood="good")
    Profile.objects.create(worker=wanda.worker, language="de")
    bonus(desk, done, Reason="You were quick")
    who = RequesterAssignment.objects.get(entity_id=done).worker.customer_id
    desk.client.notify_workers(
        Subject="<b>More</b>", MessageText="There is more on\nMonday", WorkerIds=[who]
    )
    page = wanda.get("messages").text
    assert "Ein Bonus von 0,25" in page
    assert "“. Der Grund: You were quick" in page
    assert "&lt;b&gt;More" in page
    assert "more on<br>Monday" in page
    assert page.count("From <bdi>Rita</bdi>") == 2
    walt = OnSite("walt")
    assert "Monday" not in walt.get("messages").text
    assert "Monday" not in wanda.get("requests").text


def test_a_granted_appeal_approves_and_charges_once(desk, staff, wanda, rejected):
    before = balance(desk)
    page = wanda.client.get(page_of(rejected)).text
    assert "The &lt;i&gt;second&lt;/i&gt; question is empty." in page
    sent = wanda.client.post(page_of(rejected), {"words": WORDS})
    assert sent.status_code == 302
    one = Appeal.own.get()
    boss = signed_in(staff)
    answer = reverse("admin:quality_appeal_answer", args=[one.pk])
    shown = boss.get(answer).text
    for words in ("Rita", "Say how it reads", "question is empty", "mood: good"):
        assert words in shown
    assert "I answered every &lt;b&gt;question" in shown
    boss.post(answer, {"sentence": "You were right.", "grant": "1"})
    assert state_of(rejected.entity_id) == "Approved"
    assert earnings(wanda.worker).approved == 40
    spent = float(before[0]) - float(balance(desk)[0])
    assert round(spent, 2) == 0.48
    told = Message.objects.filter(worker=wanda.worker, kind="APPEAL").get()
    assert "You were right." in told.text
    assert not services.grant(one.pk, by=staff, sentence="Again.")
    assert round(float(before[0]) - float(balance(desk)[0]), 2) == 0.48
    shown = desk.client.get_assignment(AssignmentId=rejected.entity_id)["Assignment"]
    assert shown["AssignmentStatus"] == "Approved"
    assert "appeal" in shown["RequesterFeedback"]
    assert LogEntry.objects.filter(object_id=str(rejected.pk)).exists()


def test_a_decision_that_stands_costs_nothing_and_is_told(desk, staff, wanda, rejected):
    one = services.against_requester(wanda.worker, rejected.entity_id, WORDS)
    before = balance(desk)
    assert services.uphold(one.pk, by=staff, sentence="It was empty.")
    assert balance(desk) == before
    assert state_of(rejected.entity_id) == "Rejected"
    assert "It was empty." in wanda.client.get(page_of(rejected)).text


def test_an_appeal_is_granted_only_with_money_on_the_requesters_account(
    open_desk, staff, wanda
):
    poor = open_desk("Paul", dollars=0)
    access_keys.deposit(poor.requester, 48, key="little", by=staff)
    done = wanda.do(post(poor), mood="good")
    poor.client.reject_assignment(AssignmentId=done, RequesterFeedback="Empty")
    post(poor, Title="Takes the rest of the money")
    one = services.against_requester(wanda.worker, done, WORDS)
    with pytest.raises(GenieError, match="insufficient funds"):
        services.grant(one.pk, by=staff, sentence="You were right.")
    one.refresh_from_db()
    assert one.state == Appeal.State.WAITING
    assert state_of(done) == "Rejected"


def test_only_own_rejected_work_can_be_appealed_once(desk, wanda, rejected):
    walt = OnSite("walt")
    assert walt.client.get(page_of(rejected)).status_code == 404
    waiting = wanda.do(post(desk), mood="good")
    open_one = RequesterAssignment.objects.get(entity_id=waiting)
    assert wanda.client.get(page_of(open_one)).status_code == 404
    with pytest.raises(GenieError, match="not rejected"):
        services.against_requester(wanda.worker, waiting, WORDS)
    services.against_requester(wanda.worker, rejected.entity_id, WORDS)
    services.against_requester(wanda.worker, rejected.entity_id, WORDS)
    with pytest.raises(GenieError, match="already appealed"):
        services.against_requester(wanda.worker, rejected.entity_id, "More.")
    assert Appeal.own.count() == 1
