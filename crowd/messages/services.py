"""Tell workers what happened to their work; callers open the transaction."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.utils import timezone
from django.utils.functional import Promise

from crowd.hits.models.assignment import Assignment
from crowd.messages.models import Message
from crowd.requester.models.account import RequesterAssignment, WorkerAlias
from crowd.workers.models.worker import Worker

Kind = Message.Kind
BATCH = 2_000
# of ours: translated where they are written; or as somebody wrote them
Words = str | Promise


def send(
    worker: Worker,
    kind: Message.Kind,
    subject: Words,
    text: Words,
    *,
    pool: str = "",
    assignment: Assignment | None = None,
    requester_assignment: RequesterAssignment | None = None,
) -> Message:
    """Write one message; it is there if and only if what it tells has happened."""
    return Message.objects.create(
        worker=worker,
        kind=kind,
        subject=str(subject)[:200],
        text=str(text),
        pool=pool,
        assignment=assignment,
        requester_assignment=requester_assignment,
    )


def send_from_requester(
    alias: WorkerAlias,
    kind: Message.Kind,
    subject: str,
    text: str,
    assignment: RequesterAssignment | None = None,
) -> Message:
    """Write what a requester says to a worker, or decides on their work."""
    return Message.objects.create(
        worker_id=alias.worker_id,
        kind=kind,
        subject=subject[:200],
        text=text,
        requester_id=alias.requester_id,
        requester_assignment=assignment,
    )


def send_many(messages: Iterable[Message]) -> None:
    """Write many messages at once."""
    Message.objects.bulk_create(messages, batch_size=BATCH)


def mark_read(worker: Worker, pks: Iterable[int]) -> int:
    """Note that a worker has seen messages; those of others do not change."""
    return Message.objects.filter(worker=worker, pk__in=list(pks), read_at=None).update(
        read_at=timezone.now()
    )


def forget_before(limit: datetime) -> int:
    """Delete the messages from before a moment; return how many."""
    return int(Message.objects.filter(created_at__lt=limit).delete()[0])
