"""Two tabs, two clicks, two of the staff at the same moment: each thing happens once."""

import pytest

from crowd.models import AttemptAnswer, QualificationGrant, TestAttempt
from crowd.workers.services import test_attempts
from genie.lib.errors import GenieError
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import make_worker
from tests.crowd.workers.qualifications.making import (
    NAME,
    drawn_test,
    right_answer,
    take,
    wrong_answer,
)
from tests.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]


def test_two_tabs_begin_one_try_and_a_double_click_grants_once():
    drawn_test(1)
    worker = make_worker()
    got = at_once(*[lambda: test_attempts.start(worker, NAME)] * 4)
    assert {one.pk for one in got} == {TestAttempt.own.get().pk}
    row = AttemptAnswer.own.select_related("question").get()
    sent = {"attempt_pk": got[0].pk, "worker": worker, "position": 0}
    right = right_answer(row)
    got = at_once(*[lambda: test_attempts.answer(**sent, raw_answers=right)] * 4)
    assert [one.passed for one in got] == [True] * 4
    assert QualificationGrant.own.count() == 1


def test_of_two_different_answers_one_counts():
    drawn_test(1)
    worker = make_worker()
    attempt = test_attempts.start(worker, NAME)
    row = attempt.answers.select_related("question").get()
    sent = {"attempt_pk": attempt.pk, "worker": worker, "position": 0}
    right, wrong = right_answer(row), wrong_answer(row)
    got = at_once(
        lambda: test_attempts.answer(**sent, raw_answers=right),
        lambda: test_attempts.answer(**sent, raw_answers=wrong),
    )
    refused = [one for one in got if isinstance(one, GenieError)]
    assert [one.code for one in refused] == ["already-answered"]
    attempt.refresh_from_db()
    assert QualificationGrant.own.count() == int(attempt.passed)


def test_two_of_the_staff_take_it_back_once_or_grant_it_once():
    drawn_test(1)
    worker, sam = make_worker(), make_user("sam", is_staff=True)
    take(worker)
    pk = QualificationGrant.own.get().pk
    got = at_once(*[lambda: test_attempts.revoke(pk, by=sam, reason="Shared.")] * 3)
    assert sorted(got) == [False, False, True]
    assert worker.messages.count() == 1
    at_once(*[lambda: test_attempts.grant_by_hand(worker, NAME, by=sam)] * 3)
    assert QualificationGrant.own.filter(ended_at=None).count() == 1
