from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from crowd.requester.models import (
    Requester,
    RequesterAssignment,
    RequesterHIT,
    WorkerAlias,
)
from crowd.requester.protocol import clock
from crowd.requester.questions.answers import answer_xml
from crowd.requester.selectors import hits_of, status_of
from crowd.requester.services import events, policies, requirements
from crowd.requester.services.decisions import approve
from crowd.requester.services.settle import announce, end, settle
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError

State = RequesterAssignment.State


def known_as(requester: Requester, worker: Worker) -> WorkerAlias:
    if worker.simulated:
        raise GenieError("This work is not for you.", code="not-yours")
    return WorkerAlias.objects.get_or_create(requester=requester, worker=worker)[0]


def accept(hit: RequesterHIT, worker: Worker) -> RequesterAssignment:
    """Take one place of a HIT; return the open assignment if there is one."""
    now = clock.now()
    with transaction.atomic():
        # Code that takes, posts or pays for work of one requester runs one after
        # another.
        requester = Requester.objects.select_for_update().get(pk=hit.requester_id)
        settle(requester, now)
        alias = known_as(requester, worker)
        before = RequesterAssignment.objects.filter(hit=hit, worker=alias).exclude(
            state=State.RETURNED
        )
        if (earlier := before.first()) is not None:
            if earlier.state == State.ACCEPTED:
                return earlier
            raise GenieError("You have already done this HIT.", code="done-already")
        current = hits_of(requester, now).filter(pk=hit.pk).first()
        if current is None or status_of(current, now) != "Assignable":
            raise GenieError("This HIT is no longer available.", code="no-place-left")
        _check_welcome(alias, current)
        assignment = RequesterAssignment.objects.create(
            hit=current,
            worker=alias,
            accepted_at=now,
            deadline_at=now + timedelta(seconds=current.hit_type.assignment_seconds),
        )
        _touch(current, now)
        events.about_work(assignment, "AssignmentAccepted", now)
    return assignment


def submit(
    assignment: RequesterAssignment, worker: Worker, fields: Iterable[tuple[str, str]]
) -> None:
    """Submit the fields of the page's form; a second submission is refused."""
    send_in(assignment, worker, answer_xml(fields))


def send_in(assignment: RequesterAssignment, worker: Worker, answer: str) -> None:
    """Store an answer, once; a second one is refused."""
    now = clock.now()
    with transaction.atomic():
        row = _own(assignment, worker)
        delay = timedelta(seconds=row.hit.hit_type.auto_approval_seconds)
        sent = RequesterAssignment.objects.filter(
            pk=row.pk, state=State.ACCEPTED, deadline_at__gt=now
        ).update(
            state=State.SUBMITTED,
            submitted_at=now,
            auto_approval_at=now + delay,
            answer=answer,
        )
        if not sent:
            raise GenieError(
                "This HIT has already been submitted or returned, or its time is up.",
                code="not-open",
            )
        _touch(row.hit, now)
        events.about_work(row, "AssignmentSubmitted", now)
        if row.hit.policies:
            policies.review_work(row.pk, now)
        # A delay of 0 means immediate approval.
        if not delay:
            approve(row, now)
        announce(row.hit_id, now)


def give_back(assignment: RequesterAssignment, worker: Worker) -> bool:
    """Return a HIT without penalty; False if it was not open."""
    with transaction.atomic():
        return end(_own(assignment, worker), clock.now(), "AssignmentReturned")


def _check_welcome(alias: WorkerAlias, hit: RequesterHIT) -> None:
    if alias.worker.excluded or alias.block_reason is not None:
        raise GenieError(
            "This requester has blocked you from their HITs.", code="blocked"
        )
    if alias.worker.limited_to:
        raise GenieError(
            _("Your invitation does not cover this work."), code="not-qualified"
        )
    if not all(
        requirements.meets(alias.worker, one) for one in hit.hit_type.requirements
    ):
        raise GenieError(
            "You do not have the qualifications that this HIT requires.",
            code="not-qualified",
        )


def _own(assignment: RequesterAssignment, worker: Worker) -> RequesterAssignment:
    # The requester's row first, as in `accept`.
    Requester.objects.select_for_update().get(pk=assignment.hit.requester_id)
    row = (
        RequesterAssignment.objects.select_related("hit__hit_type", "hit__requester")
        .filter(pk=assignment.pk, worker__worker=worker)
        .first()
    )
    if row is None:
        raise GenieError("This HIT is not assigned to you.", code="not-yours")
    return row


def _touch(hit: RequesterHIT, now: datetime) -> None:
    RequesterHIT.objects.filter(pk=hit.pk).update(touched_at=now)
