"""A test is taken question by question, graded on the server, and tried again later."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.models import AttemptAnswer, Exclusion, QualificationGrant, TestAttempt
from crowd.workers.selectors.requirements import held_qualifications, standings_of
from crowd.workers.services import qualification_tests, test_attempts
from genie.lib.errors import GenieError
from tests.crowd.making import POOL, hit_type, make_worker, refused
from tests.crowd.workers.qualifications.making import (
    NAME,
    drawn_test,
    right_answer,
    take,
    written_test,
)
from tests.factories import make_user

NOW = timezone.now()
DAY = timedelta(days=1)


def has(worker, now=NOW):
    return held_qualifications(worker, [NAME], now) == {NAME}


def test_who_answers_well_has_the_qualification():
    drawn_test(5, pass_percent=80)
    worker = make_worker()
    attempt = take(worker, n_wrong=1, now=NOW)
    assert (attempt.passed, attempt.n_right) == (True, 4)
    assert has(worker)
    grant = QualificationGrant.own.get()
    assert (grant.attempt, grant.version, grant.expires_at) == (attempt, 1, None)
    with pytest.raises(GenieError, match="You have already passed"):
        test_attempts.start(worker, NAME)


def test_who_answers_badly_waits_and_then_has_no_tries_left():
    drawn_test(4, n_tries=2, wait_hours=24)
    worker = make_worker()
    attempt = take(worker, n_wrong=2, now=NOW)
    assert (attempt.passed, attempt.n_right) == (False, 2)
    assert attempt.next_try_at == NOW + DAY
    assert not has(worker)
    too_early = NOW + timedelta(hours=23)
    refused("wait-for-next-try", test_attempts.start, worker, NAME, too_early)
    assert take(worker, n_wrong=4, now=NOW + DAY).number == 2
    refused("no-tries-left", test_attempts.start, worker, NAME, NOW + 30 * DAY)
    assert standings_of(worker, [NAME], NOW)[NAME].hopeless
    assert not QualificationGrant.own.exists()


@pytest.mark.parametrize(
    ("n_right", "n", "percent", "passed"),
    [(0, 1, 1, False), (1, 1, 100, True), (2, 3, 67, False), (2, 3, 66, True), (4, 5, 80, True)],
)  # fmt: skip
def test_the_pass_mark_is_reached_or_not(n_right, n, percent, passed):
    assert test_attempts.passes(n_right, n, percent) is passed


def refused_answer(code, attempt, worker, given, position=0):
    answer = {"worker": worker, "position": position, "raw_answers": given}
    refused(code, test_attempts.answer, attempt_pk=attempt.pk, **answer)


def test_what_no_page_sends_is_refused_and_changes_nothing():
    drawn_test(2)
    worker = make_worker()
    attempt = test_attempts.start(worker, NAME)
    for given, code in (
        ({}, "answer-missing"),
        ({"overall": ""}, "answer-missing"),
        ({"overall": "0.9"}, "not-on-the-scale"),
        ({"overall": "1", "other": "1"}, "unknown-question"),
    ):
        refused_answer(code, attempt, worker, given)
    given = right_answer(attempt.answers.select_related("question").first())
    refused_answer("not-yours", attempt, make_worker(), given)
    refused_answer("unknown-question", attempt, worker, given, position=2)
    assert not AttemptAnswer.own.exclude(answered_at=None).exists()


def test_a_written_question_takes_its_own_answers_only():
    written_test(("Which?", ["this", "that"], 1))
    worker = make_worker()
    attempt = test_attempts.start(worker, NAME)
    for given, code in (
        ({}, "answer-missing"),
        ({"choice": "2"}, "not-on-the-scale"),
        ({"choice": "-1"}, "not-on-the-scale"),
        ({"choice": "x"}, "not-on-the-scale"),
        ({"answer": "0"}, "unknown-question"),
    ):
        refused_answer(code, attempt, worker, given)
    assert take(worker).passed


def test_a_second_try_asks_what_was_not_asked_before():
    drawn_test(4, n_asked=2, wait_hours=0)
    worker = make_worker()
    first = take(worker, n_wrong=2, now=NOW)
    second = test_attempts.start(worker, NAME, NOW)
    asked = [set(one.answers.values_list("question", flat=True)) for one in (first, second)]  # fmt: skip
    assert [len(some) for some in asked] == [2, 2]
    assert asked[0].isdisjoint(asked[1])
    # decided by the seed alone
    TestAttempt.own.all().delete()
    again = test_attempts.start(worker, NAME, NOW)
    assert set(again.answers.values_list("question", flat=True)) == asked[0]


def test_a_qualification_runs_out_and_can_be_won_again():
    drawn_test(2, valid_days=30, n_tries=1)
    worker = make_worker()
    take(worker, now=NOW)
    assert has(worker, NOW + 29 * DAY)
    assert not has(worker, NOW + 30 * DAY)
    take(worker, now=NOW + 31 * DAY)
    assert has(worker, NOW + 60 * DAY)
    assert QualificationGrant.own.filter(ended_at=None).count() == 1


def test_staff_take_a_qualification_back_with_a_reason_and_give_it_again():
    drawn_test(2)
    worker, sam = make_worker(), make_user("sam", is_staff=True)
    take(worker)
    grant = QualificationGrant.own.get()
    with pytest.raises(GenieError, match="Give a reason"):
        test_attempts.revoke(grant.pk, by=sam, reason="  ")
    assert test_attempts.revoke(grant.pk, by=sam, reason="It was taken by two people.")
    assert not test_attempts.revoke(grant.pk, by=sam, reason="Again.")
    assert not has(worker)
    refused("qualification-revoked", test_attempts.start, worker, NAME)
    message = worker.messages.get()
    assert "It was taken by two people." in message.text
    test_attempts.grant_by_hand(worker, NAME, by=sam)
    assert has(worker)
    assert not standings_of(worker, [NAME], NOW)[NAME].revoked
    assert worker.messages.count() == 2


def test_a_new_version_can_ask_everybody_again():
    test = drawn_test(2)
    worker = make_worker()
    take(worker)
    copy = qualification_tests.new_version(test.pk)
    qualification_tests.publish(copy.pk)
    assert has(worker)
    strict = qualification_tests.new_version(copy.pk)
    strict.asks_again = True
    strict.save()
    assert has(worker)  # while it is a draft
    qualification_tests.publish(strict.pk)
    assert not has(worker)
    take(worker)
    assert has(worker)
    assert QualificationGrant.own.filter(ended_at=None).get().version == 3


def test_who_gets_no_work_gets_no_test():
    drawn_test(1)
    worker = make_worker()
    Exclusion.objects.create(worker=worker, pool_id=POOL, message="No.")
    refused("no-such-test", test_attempts.start, worker, NAME)


def test_a_published_test_stays_and_one_version_is_in_use():
    test = drawn_test(2)
    assert not qualification_tests.publish(test.pk)
    second = qualification_tests.new_version(test.pk)
    assert (second.version, second.state) == (2, "DRAFT")
    assert second.seed != test.seed
    assert second.questions.count() == test.questions.count() == 2
    qualification_tests.publish(second.pk)
    test.refresh_from_db()
    assert test.state == "RETIRED"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ((" ", ["a", "b"], 0), "has no text"),
        (("Which?", ["a"], 0), "at least two answers"),
        (("Which?", ["a", "a"], 0), "same answer twice"),
        (("Which?", ["a", "b"], 2), "does not say which"),
        (("Which?", ["a", "b"], None), "does not say which"),
    ],
)
def test_a_question_that_cannot_be_marked_is_not_published(row, problem):
    test = written_test(row, published=False)
    with pytest.raises(GenieError, match=problem):
        qualification_tests.publish(test.pk)


def test_a_test_without_enough_questions_is_refused():
    with pytest.raises(GenieError, match="no questions"):
        written_test()
    with pytest.raises(GenieError, match="asks 3 questions but has only 2"):
        drawn_test(2, n_asked=3, name="other")


def test_a_comparison_and_several_criteria_are_marked():
    worker = make_worker()
    drawn_test(2, of=hit_type(criteria={"a": "First?", "b": "Second?"}))
    attempt = test_attempts.start(worker, NAME)
    for row in attempt.answers.select_related("question"):
        good = row.question.expected["good"]
        # each criterion is marked by itself, and more than half of them must be right
        given = {"a": "1", "b": "0.75"} if good else {"a": "0", "b": "0.25"}
        attempt = test_attempts.answer(
            attempt_pk=attempt.pk,
            worker=worker,
            position=row.position,
            raw_answers=given,
        )
    assert attempt.passed
