"""The Mechanical Turk adapter against a real server of the protocol."""

from dataclasses import replace

import pytest

from crowd.models import QualificationType, RequesterHIT, RequesterHITType
from crowd.platforms.base import (
    BonusSpec,
    Choice,
    DecisionSpec,
    ExternalRef,
    FormQuestion,
    HITSpec,
    MoreSpec,
    QualifyingTest,
    Requirements,
)
from crowd.platforms.mturk import Account, MTurk
from crowd.requester.questions.questions import read_question
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import REASON, PlatformContract, one


class TestMTurk(PlatformContract):
    @pytest.fixture
    def world(self, turk):
        return turk


@pytest.fixture
def ref(turk):
    return PlatformContract.ref.__wrapped__(PlatformContract(), turk)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "GENIE_MTURK_ENVIRONMENT"),
        ({"environment": "live"}, "GENIE_MTURK_ENVIRONMENT"),
        ({"environment": "endpoint"}, "GENIE_MTURK_ENDPOINT_URL"),
        ({"environment": "production"}, "GENIE_MTURK_PRODUCTION"),
    ],
)
def test_nothing_is_called_before_somebody_said_where(options, named):
    with pytest.raises(GenieError, match=named):
        MTurk.from_options(options)


def test_each_environment_has_one_address():
    assert "sandbox" in Account("sandbox").url()
    real = Account("production", production_confirmed=True).url()
    assert "sandbox" not in real
    assert (
        Account("endpoint", endpoint_url="http://here/turk/").url().endswith("/turk/")
    )


def test_the_page_arrives_as_it_was_whatever_it_holds(turk):
    page = "<p>a ]]> b &amp; c <b>]]>]]></b> \x00\x1bé 日本 😀</p>\n"
    made = turk.platform.publish(turk.campaign())
    ref = replace(turk_ref(made), hit_ids={})
    posted = one(turk.platform.post(ref, [HITSpec("odd", page=page)]))
    assert posted.state == "done", posted
    stored = RequesterHIT.objects.get(entity_id=posted.platform_id)
    shown = read_question(stored.question).content
    assert shown == page.replace("\x00\x1b", "")
    assert stored.annotation == "odd"


def turk_ref(made):
    return ExternalRef(made.platform_id)


def test_a_page_is_not_too_long_and_an_address_of_ours_is_https(turk):
    ref = turk_ref(turk.platform.publish(turk.campaign()))
    n_bytes = 65_535 - 215
    specs = [
        HITSpec("fits", page="é" * (n_bytes // 2)),
        HITSpec("long", page="é" * 40_000),
        HITSpec("good", url="https://a.example/?x=1&y=2"),
        HITSpec("bad", url="http://a/"),
    ]
    results = {one.key: one for one in turk.platform.post(ref, specs)}
    states = {key: one.state for key, one in results.items()}
    assert states == {"fits": "done", "long": "refused", "good": "done", "bad": "refused"}  # fmt: skip
    assert results["long"].code == "question-too-long"
    assert turk.n_posted() == 2


@pytest.mark.every_engine
def test_requirements_are_in_the_hit_type_with_the_exclusion(turk):
    wanted = Requirements(10_000, 99, ["US", "GB"])
    turk.platform.publish(turk.campaign(requirements=wanted))
    kind = RequesterHITType.objects.get(requester=turk.requester)
    comparators = [one["Comparator"] for one in kind.requirements]
    assert comparators == [
        "DoesNotExist",
        "GreaterThanOrEqualTo",
        "GreaterThanOrEqualTo",
        "In",
    ]


def test_who_passed_a_test_there_may_work(turk):
    ask = FormQuestion("q1", "Which?", [Choice("a", "1"), Choice("b", "2")], ["a"])
    test = QualifyingTest("Reading, version 1", "Choose.", 80, [ask], 600, 3600)
    needs = turk.campaign(requirements=Requirements(tests=[test]))
    made = turk.platform.publish(needs)
    assert made.state == "done", made
    assert turk.fresh().publish(needs).platform_id == made.platform_id
    kind = QualificationType.objects.get(name="Reading, version 1")
    (demand,) = [
        one
        for one in RequesterHITType.own.get().requirements
        if one["QualificationTypeId"] == kind.entity_id
    ]
    assert demand["Comparator"] == "GreaterThanOrEqualTo"
    assert demand["IntegerValues"] == [80]
    assert (kind.test_seconds, kind.retry_seconds) == (600, 3600)
    assert "SelectionIdentifier>a<" in kind.answer_key
    assert "SelectionIdentifier>b<" not in kind.answer_key
    posted = one(turk.platform.post(turk_ref(made), [HITSpec("h", page="<p>1</p>")]))
    assert turk.do(posted.platform_id, "Wanda") is None


def test_nine_places_do_not_become_ten(turk):
    ref = turk_ref(turk.platform.publish(turk.campaign()))
    posted = one(turk.platform.post(ref, [HITSpec("h", 9, page="<p>1</p>")]))
    more = MoreSpec("m", posted.platform_id, 1, 9)
    result = one(turk.platform.add_capacity(ref, [more]))
    assert (result.state, result.code) == ("refused", "too-many")
    stranger = turk.fresh(secret_access_key="wrong")
    assert stranger.publish(turk.campaign()).state == "refused"


def test_what_cannot_be_paid_waits_for_money(turk, ref):
    session = turk.answer(ref, "hit-1", "Wanda")
    huge = BonusSpec("b", turk.worker_id("Wanda"), session, 1_000_000, "Thanks.")
    result = one(turk.platform.bonus([huge]))
    assert (result.state, result.code) == ("again", "no-funds")
    dear = turk_ref(turk.platform.publish(turk.campaign(reward_cents=900_000)))
    result = one(turk.platform.post(dear, [HITSpec("dear", page="<p>1</p>")]))
    assert (result.state, result.code) == ("again", "no-funds")
    worker = turk.worker_id("Wanda")
    for key in ("one", "two"):
        sent = one(turk.platform.bonus([BonusSpec(key, worker, session, 25, "More.")]))
        assert sent.state == "done"
    assert turk.paid_cents("Wanda") == 50


def test_a_rejection_can_be_turned_round(turk, ref):
    session = turk.answer(ref, "hit-1", "Wanda")
    assert one(turk.platform.decide([DecisionSpec("1", session, "reject", REASON)]))
    again = one(turk.platform.decide([DecisionSpec("2", session, "approve")]))
    assert (again.state, again.code) == ("refused", "decided-otherwise")
    turned = one(
        turk.platform.decide([DecisionSpec("3", session, "override", "Sorry.")])
    )
    assert turned.state == "done"
    assert turk.status(session) == "approved"


def test_a_message_is_cleaned_before_it_is_sent(turk, ref):
    session = turk.answer(ref, "hit-1", "Wanda")
    wish = DecisionSpec("1", session, "reject", "No\x00 effort. " + "x" * 2_000)
    assert one(turk.platform.decide([wish])).state == "done"
    told = turk.row(session).feedback
    assert told.startswith("No effort.")
    assert len(told) == 1024


def test_answers_come_as_the_fields_of_the_form(turk, ref):
    fields = (
        ("answer-0-0", "0.5"),
        ("remark", "très <b>bien</b> & ]]>\n日本"),
        ("doNotRedirect", "1"),
    )
    turk.answer(ref, "hit-1", "Wanda", fields)
    (event,) = turk.platform.sync(ref, None)
    assert event.answers == dict(fields)
    assert event.hit_id == ref.hit_ids["hit-1"]
    assert event.auto_approval_at > event.submitted_at > event.accepted_at


@pytest.mark.every_engine
def test_an_answer_that_cannot_be_read_is_kept_as_it_came(turk, ref):
    session = turk.answer(ref, "hit-1", "Wanda")
    row = turk.row(session)
    row.answer = "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"
    row.save()
    (event,) = turk.platform.sync(ref, None)
    assert event.answers == {}
    assert event.raw == row.answer
    assert "document type" in event.message


def test_a_preview_is_nobody_and_a_worker_goes_back_by_a_form(turk):
    sent = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3A"}
    who = turk.platform.identity(sent)
    assert who.worker_id == who.session_id == ""
    address = "https://www.example.org/"
    sent |= {"assignmentId": "3B", "workerId": "A1", "turkSubmitTo": address}
    who = turk.platform.identity(sent)
    back = turk.platform.completion(who, "completed")
    assert back.url == "https://www.example.org/mturk/externalSubmit"
    assert back.fields["assignmentId"] == "3B"
    assert len(back.fields) > 1
