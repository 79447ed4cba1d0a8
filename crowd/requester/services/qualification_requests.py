from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from crowd.requester.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    WorkerAlias,
)
from crowd.requester.protocol import clock
from crowd.requester.questions.answers import (
    FormAnswer,
    form_answer_xml,
    grade,
    read_key,
)
from crowd.requester.services.turns import known_as
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError

State = QualificationRequest.State
# Answers that were being sent when time ran out still count.
GRACE = timedelta(seconds=30)


def hindrance(
    qualification_type: QualificationType, worker: Worker, now: datetime
) -> str:
    """Return why a worker cannot request a qualification now; empty if they can.

    Without a retry delay, it can be requested once.
    """
    alias = WorkerAlias.objects.filter(
        requester=qualification_type.requester_id, worker=worker.pk
    )
    blocked = alias.filter(block_reason__isnull=False).exists()
    if (
        not qualification_type.active
        or qualification_type.disposed_at is not None
        or worker.excluded
        or blocked
    ):
        return "This qualification is not offered to you."
    last = (
        _requests(qualification_type, worker).order_by("-submitted_at", "-pk").first()
    )
    if last is None or _is_open(last, now):
        return ""
    if last.state == State.PENDING:
        return "You have requested it; the requester has not decided yet."
    if qualification_type.retry_seconds is None:
        return "You have already requested it, and it can be requested only once."
    again_at = last.submitted_at + timedelta(seconds=qualification_type.retry_seconds)
    if now < again_at:
        return f"You can request it again from {again_at:%Y-%m-%d %H:%M} UTC."
    return ""


def ask(qualification_type: QualificationType, worker: Worker) -> QualificationRequest:
    """Request a qualification; if it has a test, the test begins.

    Returns the open test, if there is one.
    """
    now = clock.now()
    with transaction.atomic():
        requester = Requester.objects.select_for_update().get(
            pk=qualification_type.requester_id
        )
        current = (
            _requests(qualification_type, worker).filter(state=State.STARTED).first()
        )
        if current is not None and _is_open(current, now):
            return current
        if reason := hindrance(qualification_type, worker, now):
            raise GenieError(reason, code="not-now")
        # An expired test makes room, because a constraint allows one open test.
        _requests(qualification_type, worker).filter(state=State.STARTED).update(
            state=State.REJECTED, reason="The time for the test ran out."
        )
        alias = known_as(requester, worker)
        request = QualificationRequest(
            qualification_type=qualification_type, worker=alias, submitted_at=now
        )
        if qualification_type.test:
            request.state = State.STARTED
            request.deadline_at = now + timedelta(
                seconds=qualification_type.test_seconds or 0
            )
        elif qualification_type.auto_granted:
            request.state = State.GRANTED
            grant(qualification_type, alias, qualification_type.auto_granted_value, now)
        request.save()
    return request


def send_test(
    request: QualificationRequest, worker: Worker, answers: Iterable[FormAnswer]
) -> QualificationRequest:
    """Submit a test: it is graded if it has a key, or waits for the requester.

    A failing value is granted as well, because the HIT's requirement decides.
    """
    now = clock.now()
    answers = list(answers)
    with transaction.atomic():
        requester_pk = request.qualification_type.requester_id
        Requester.objects.select_for_update().get(pk=requester_pk)
        row = _own_open(request, worker, now)
        qualification_type = row.qualification_type
        row.answer = form_answer_xml(answers)
        row.submitted_at = now
        row.state = State.PENDING
        if qualification_type.answer_key:
            row.state = State.GRANTED
            grant(
                qualification_type,
                row.worker,
                grade(read_key(qualification_type.answer_key), answers),
                now,
            )
        row.save()
    return row


def _own_open(
    request: QualificationRequest, worker: Worker, now: datetime
) -> QualificationRequest:
    row = (
        QualificationRequest.objects.select_related("qualification_type", "worker")
        .filter(pk=request.pk, worker__worker=worker)
        .first()
    )
    if row is None or not _is_open(row, now):
        raise GenieError(
            "This test has already been submitted, or its time is up.", code="not-open"
        )
    return row


def _requests(
    qualification_type: QualificationType, worker: Worker
) -> QuerySet[QualificationRequest]:
    return QualificationRequest.objects.filter(
        qualification_type=qualification_type, worker__worker=worker
    )


def _is_open(row: QualificationRequest, now: datetime) -> bool:
    return (
        row.state == State.STARTED
        and row.deadline_at is not None
        and now < row.deadline_at + GRACE
    )


def grant(
    qualification_type: QualificationType,
    worker: WorkerAlias,
    value: int,
    now: datetime,
) -> None:
    Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "granted": True, "granted_at": now, "reason": ""},
    )
