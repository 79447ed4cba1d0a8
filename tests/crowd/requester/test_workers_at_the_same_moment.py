import pytest

from crowd.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    RequesterAssignment,
)
from crowd.requester.questions.answers import FormAnswer
from crowd.requester.services import qualification_requests
from crowd.requester.services import turns as work
from genie.lib.errors import GenieError
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.requester.making import (
    KEY,
    TEST,
    balance,
    post,
    qualification,
    take,
    worker,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]


def succeeded(results):
    return [one for one in results if not isinstance(one, GenieError)]


def test_the_last_place_of_a_hit_goes_to_one_of_those_who_want_it(desk):
    hit = post(desk)
    crowd = [worker(f"W{n}") for n in range(4)]
    results = at_once(*[lambda who=who: take(hit, who) for who in crowd])
    assert len(succeeded(results)) == 1
    assert RequesterAssignment.own.count() == 1


def test_an_answer_that_is_sent_twice_at_once_is_stored_and_paid_once(desk):
    hit = post(desk, AutoApprovalDelayInSeconds=0)
    who = worker()
    turn = take(hit, who)
    results = at_once(
        *[lambda n=n: work.submit(turn, who, [("n", str(n))]) or n for n in range(4)]
    )
    (kept,) = succeeded(results)
    turn.refresh_from_db()
    assert f"<FreeText>{kept}</FreeText>" in turn.answer
    assert turn.state == "Approved"
    assert balance(desk) == ("99.52", "0.00")


def test_a_worker_who_accepts_in_several_tabs_has_one_turn(desk):
    hit = post(desk, MaxAssignments=4)
    who = worker()
    turns = at_once(*[lambda: take(hit, who)] * 4)
    assert len({turn.pk for turn in turns}) == 1


def test_a_test_is_begun_and_graded_once(desk):
    kind = qualification(desk, Test=TEST, AnswerKey=KEY, TestDurationInSeconds=60)
    row = QualificationType.objects.get(entity_id=kind)
    who = worker()
    attempts = at_once(*[lambda: qualification_requests.ask(row, who)] * 4)
    assert len({one.pk for one in attempts}) == 1
    answer = [FormAnswer("sky", text="blue")]
    results = at_once(
        *[lambda: qualification_requests.send_test(attempts[0], who, answer)] * 4
    )
    assert len(succeeded(results)) == 1
    assert Qualification.own.count() == QualificationRequest.own.count() == 1
