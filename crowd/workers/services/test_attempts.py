"""Qualification attempts: begin, answer question by question, pass or try again.

The questions of an attempt are drawn and stored when it begins. Answers are stored one
by one, and the last one grades the attempt. The right answers never leave the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from crowd.messages import services
from crowd.messages.models import Message
from crowd.workers.models.qualification_attempt import (
    AttemptAnswer,
    QualificationGrant,
    TestAttempt,
)
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.requirements import TestStanding, standings_of
from crowd.workers.selectors.test_wording import language_for_test
from crowd.workers.services.known_answers import is_right
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


@transaction.atomic
def start(worker: Worker, name: str, now: datetime | None = None) -> TestAttempt:
    """Begin an attempt, or return the open one.

    Raises
    ------
    GenieError
        ``no-such-test``, ``already-qualified``, ``qualification-revoked``,
        ``no-tries-left`` or ``wait-for-next-try``.
    """
    now = now or timezone.now()
    # Two tabs of one worker take turns here.
    worker = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    standing = standings_of(worker, [name], now).get(name)
    if standing is None or is_closed_to(worker, standing.test.pool_id):
        raise GenieError(
            gettext("There is no such test at the moment."), code="no-such-test"
        )
    if standing.open_attempt is not None:
        return standing.open_attempt
    _refuse(standing)
    earlier = TestAttempt.objects.filter(test=standing.test, worker=worker)
    attempt = TestAttempt.objects.create(
        test=standing.test,
        worker=worker,
        number=earlier.count() + 1,
        started_at=now,
        language=language_for_test(standing.test),
    )
    AttemptAnswer.objects.bulk_create(
        [
            AttemptAnswer(attempt=attempt, question=question, position=position)
            for position, question in enumerate(_drawn_questions(attempt))
        ]
    )
    return attempt


def is_closed_to(worker: Worker, pool: str) -> bool:
    return (
        worker.excluded or Exclusion.objects.filter(worker=worker, pool=pool).exists()
    )


def _refuse(standing: TestStanding) -> None:
    if standing.held:
        raise GenieError(
            gettext("You have already passed this test."), code="already-qualified"
        )
    if standing.revoked:
        raise GenieError(
            gettext("This qualification was revoked; ask the people who invited you."),
            code="qualification-revoked",
        )
    if standing.n_left == 0:
        raise GenieError(gettext("You have no attempts left."), code="no-tries-left")
    if standing.wait_until is not None:
        raise GenieError(
            gettext("You can try again from %(wait_until)s UTC.")
            % {"wait_until": f"{standing.wait_until:%Y-%m-%d %H:%M}"},
            code="wait-for-next-try",
        )


def _drawn_questions(attempt: TestAttempt) -> list[QualificationQuestion]:
    test = attempt.test
    questions = list(test.questions.order_by("position", "pk"))
    # The test's seed comes from the site's secret key, so the next questions cannot be
    # predicted.
    rng = generator(seed_from("try", test.seed, attempt.worker_id, attempt.number))
    drawn = [questions[int(index)] for index in rng.permutation(len(questions))]
    known = set(
        AttemptAnswer.objects.filter(
            attempt__test=test, attempt__worker=attempt.worker_id
        ).values_list("question", flat=True)
    )
    fresh_first = sorted(drawn, key=lambda question: question.pk in known)
    chosen = fresh_first[: test.n_asked or len(fresh_first)]
    # In the order drawn, because new questions must not always come first.
    return [question for question in drawn if question in chosen]


def answer(
    *,
    attempt_pk: int,
    worker: Worker,
    position: int,
    raw_answers: Mapping[str, str],
    now: datetime | None = None,
) -> TestAttempt:
    """Store one answer, once; the last one grades the attempt.

    Raises
    ------
    GenieError
        ``not-yours``, ``unknown-question``, ``already-answered`` if a different answer
        is stored, and the errors of `qualification_marks.is_right`.
    """
    now = now or timezone.now()
    with transaction.atomic():
        attempt = (
            TestAttempt.objects.select_for_update(of=("self",))
            .select_related("test__hit_type", "worker")
            .filter(pk=attempt_pk, worker=worker)
            .first()
        )
        if attempt is None:
            raise GenieError(
                gettext("You have not started this test."), code="not-yours"
            )
        row = (
            attempt.answers.select_related("question").filter(position=position).first()
        )
        if row is None:
            raise GenieError(
                gettext("This test has no such question."), code="unknown-question"
            )
        if row.answered_at is None:
            _keep(attempt, row, raw_answers, now)
        elif row.given != dict(raw_answers):
            raise GenieError(
                gettext(
                    "You have already answered this, and your first answer counts."
                ),
                code="already-answered",
            )
    return attempt


def _keep(
    attempt: TestAttempt,
    row: AttemptAnswer,
    raw_answers: Mapping[str, str],
    now: datetime,
) -> None:
    row.right = is_right(row.question, attempt.test.hit_type, raw_answers)
    row.given = dict(raw_answers)
    row.answered_at = now
    row.save(update_fields=["right", "given", "answered_at"])
    # The rows were created at the start, so None is a question without an answer yet.
    marks = list(attempt.answers.values_list("right", flat=True))
    if None not in marks:
        _finish(attempt, marks.count(True), len(marks), now)


def _finish(attempt: TestAttempt, n_right: int, n_asked: int, now: datetime) -> None:
    test = attempt.test
    passed = passes(n_right, n_asked, test.pass_percent)
    attempt.finished_at = now
    attempt.n_right = n_right
    attempt.passed = passed
    if not passed:
        attempt.next_try_at = now + timedelta(hours=test.wait_hours)
    attempt.save(update_fields=["finished_at", "n_right", "passed", "next_try_at"])
    if passed:
        runs_out = now + timedelta(days=test.valid_days) if test.valid_days else None
        _grant(
            QualificationGrant(
                worker=attempt.worker,
                name=test.name,
                version=test.version,
                attempt=attempt,
                granted_at=now,
                expires_at=runs_out,
            )
        )


def passes(n_right: int, n_asked: int, pass_percent: int) -> bool:
    """Check whether so many right answers reach the pass mark, in whole numbers."""
    return 100 * n_right >= pass_percent * n_asked


def _grant(grant: QualificationGrant) -> QualificationGrant:
    """Replace the previous grant by this one; callers open the transaction."""
    Worker.objects.select_for_update(of=("self",)).get(pk=grant.worker_id)
    QualificationGrant.objects.filter(
        worker=grant.worker, name=grant.name, ended_at=None
    ).update(ended_at=grant.granted_at)
    grant.save()
    return grant


@transaction.atomic
def grant_by_hand(
    worker: Worker,
    name: str,
    *,
    by: AbstractBaseUser,
    expires_at: datetime | None = None,
) -> QualificationGrant:
    """Grant a qualification without a test, or again after a revocation.

    A qualification without any test is a group; its members are the workers who have
    it.
    """
    test = QualificationTest.objects.filter(name=name).order_by("-version").first()
    grant = _grant(
        QualificationGrant(
            worker=worker,
            name=name,
            granted_at=timezone.now(),
            granted_by_id=by.pk,
            expires_at=expires_at,
        )
    )
    if test is not None:
        subject = gettext_lazy("You are qualified")
        text = format_lazy(
            gettext_lazy(
                "You have been granted the qualification “{title}”. You do not need to "
                "take its test."
            ),
            title=test.title,
        )
    else:
        subject = gettext_lazy("You are in a group")
        text = format_lazy(
            gettext_lazy(
                "You are now in the group “{name}”. Some work is only for this group."
            ),
            name=name,
        )
    pool = test.pool_id if test else None
    services.send(worker, Message.Kind.QUALIFIED, subject, text, pool=pool)
    note(by, grant, "Granted without a test.")
    return grant


def revoke(grant_pk: int, *, by: AbstractBaseUser, reason: str) -> bool:
    """Revoke a qualification; the worker reads the reason. False if it was over."""
    reason = reason.strip()
    if not reason:
        raise GenieError(
            "Give a reason for revoking it; the worker reads it.", code="reason-missing"
        )
    with transaction.atomic():
        ended = QualificationGrant.objects.filter(pk=grant_pk, ended_at=None).update(
            ended_at=timezone.now(), revoked_by_id=by.pk, revoked_reason=reason
        )
        if not ended:
            return False
        grant = QualificationGrant.objects.select_related("worker").get(pk=grant_pk)
        test = QualificationTest.objects.filter(name=grant.name).first()
        services.send(
            grant.worker,
            Message.Kind.REVOKED,
            gettext_lazy("A qualification was revoked"),
            format_lazy(
                gettext_lazy(
                    "Your qualification “{title}” was revoked. The reason given by the "
                    "staff of this site: {reason}\n\nWork that you have already "
                    "submitted is not affected."
                ),
                title=test.title if test else grant.name,
                reason=reason,
            ),
            pool=test.pool_id if test else None,
        )
        note(by, grant, f"Revoked: {reason}")
    return True
