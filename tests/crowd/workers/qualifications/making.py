"""Qualification tests for tests, and workers who take them."""

from crowd.hits.selectors import questions_about
from crowd.models import QualificationQuestion, QualificationTest
from crowd.workers.services import qualification_tests, test_attempts
from tests.crowd.making import POOL, hit_type, item, make_pools

NAME = "reads-carefully"
GOOD, BAD = "1", "0"


def drawn_test(n=4, *, published=True, of=None, name=NAME, **rules):
    """Make a test of `n` drawn questions; the even ones show a good text."""
    kind = of or hit_type()
    questions = [
        QualificationQuestion(
            data=item(f"q{i}", question=f"Question {i}?", text=f"Text {i}.").data,
            expected={"good": i % 2 == 0},
            content_key=f"test-input-{i}",
        )
        for i in range(n)
    ]
    make_pools(POOL)
    test = QualificationTest(
        name=name, pool_id=POOL, title="Do you read carefully?", **rules
    )
    qualification_tests.draft(test, questions, kind)
    if published:
        qualification_tests.publish(test.pk)
        test.refresh_from_db()
    return test


def written_test(*rows, published=True, name=NAME, **rules):
    """Make a test by hand; each row: text, answers, index of the right one."""
    test = QualificationTest.objects.create(
        name=name, pool_id=POOL, title="By hand", seed=1, **rules
    )
    for position, (text, answers, right) in enumerate(rows):
        QualificationQuestion.objects.create(
            test=test,
            position=position,
            text=text,
            choices="\n".join(answers),
            expected={"choice": right},
        )
    if published:
        qualification_tests.publish(test.pk)
        test.refresh_from_db()
    return test


def right_answer(row):
    question = row.question
    if question.data is None:
        return {"choice": str(question.expected["choice"])}
    value = GOOD if question.expected["good"] else BAD
    return {
        one.key: value
        for one in questions_about(row.attempt.test.hit_type, question.data)
    }


def wrong_answer(row):
    question = row.question
    if question.data is None:
        return {"choice": str((question.expected["choice"] + 1) % 2)}
    value = BAD if question.expected["good"] else GOOD
    return {
        one.key: value
        for one in questions_about(row.attempt.test.hit_type, question.data)
    }


def take(worker, *, n_wrong=0, name=NAME, now=None):
    """Take the test to its end; the first `n_wrong` answers are wrong."""
    attempt = test_attempts.start(worker, name, now)
    for row in attempt.answers.select_related("question", "attempt__test__hit_type"):
        say = wrong_answer if row.position < n_wrong else right_answer
        attempt = test_attempts.answer(
            attempt_pk=attempt.pk,
            worker=worker,
            position=row.position,
            raw_answers=say(row),
            now=now,
        )
    attempt.refresh_from_db()
    return attempt
