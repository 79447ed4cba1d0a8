"""Messages to workers about their work; callers open the transaction."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.core.cache import cache
from django.core.mail import send_mail
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.functional import Promise

from crowd.hits.models import ELSEWHERE, Assignment
from crowd.messages.models import Message
from crowd.requester.models import RequesterAssignment, WorkerAlias
from crowd.workers.models.worker import Profile, Worker
from genie.accounts.addresses import addresses_of
from genie.lib import jobs
from genie.lib.logs import one_line
from genie.lib.serving.languages import ENGLISH

Kind = Message.Kind
BATCH = 2_000
# longer than a job is retried
MARKED_SECONDS = 7 * 24 * 3_600
# our words are translated; written ones are not
Words = str | Promise


def languages_of(workers: Iterable[int]) -> dict[int, str]:
    """Return the language in which to write to each worker: English by default."""
    pks = list(workers)
    rows = Profile.objects.filter(worker__in=pks).exclude(language="").order_by()
    return dict.fromkeys(pks, ENGLISH) | dict(rows.values_list("worker", "language"))


def send(
    worker: Worker,
    kind: Message.Kind,
    subject: Words,
    text: Words,
    *,
    pool: str | None = None,
    assignment: Assignment | None = None,
    requester_assignment: RequesterAssignment | None = None,
) -> Message:
    """Store one message; it exists if and only if its event has happened.

    Imported workers get none, because they were never here.
    """
    with translation.override(languages_of([worker.pk])[worker.pk]):
        subject, text = str(subject), str(text)
    message = Message(
        worker=worker,
        kind=kind,
        subject=subject[:200],
        text=text,
        pool_id=pool,
        assignment=assignment,
        requester_assignment=requester_assignment,
    )
    if worker.platform != ELSEWHERE:
        message.save()
    return message


def send_from_requester(
    alias: WorkerAlias,
    kind: Message.Kind,
    subject: Words,
    text: Words,
    assignment: RequesterAssignment | None = None,
) -> None:
    with translation.override(languages_of([alias.worker_id])[alias.worker_id]):
        subject, text = str(subject), str(text)
    Message.objects.create(
        worker_id=alias.worker_id,
        kind=kind,
        subject=subject[:200],
        text=text,
        requester_id=alias.requester_id,
        requester_assignment=assignment,
    )


def send_by_mail_too(message: Message) -> None:
    jobs.enqueue("crowd.jobs.mail_message", message=message.pk)


def mail(pk: int) -> None:
    """E-mail a message to its worker, once, unless it has been read."""
    rows = Message.objects.filter(pk=pk, read_at=None).select_related("worker__user")
    message = rows.first()
    address = address_of(message.worker) if message else ""
    # Marked before it is sent, so two processes do not both write to a worker.
    mark = f"mailed-message-{pk}"
    if message is None or not address or not cache.add(mark, True, MARKED_SECONDS):
        return
    inbox = f"{settings.GENIE['SITE_URL'].rstrip('/')}{reverse('work:messages')}"
    subject = one_line(f"[Genie] {message.subject}", 150)
    try:
        send_mail(subject, f"{message.text}\n\n{inbox}\n", None, [address])
    except OSError:
        cache.delete(mark)
        raise


def address_of(worker: Worker) -> str:
    """Return the worker's e-mail address; empty if there is none to use."""
    if worker.user is None:
        return ""
    return addresses_of([worker.user]).get(worker.user.pk, "")


def send_many(messages: Iterable[Message]) -> None:
    rows = list(messages)
    addressed = Worker.objects.filter(pk__in={row.worker_id for row in rows})
    never_here = set(addressed.filter(platform=ELSEWHERE).values_list("pk", flat=True))
    written = [row for row in rows if row.worker_id not in never_here]
    Message.objects.bulk_create(written, batch_size=BATCH)


def mark_read(worker: Worker, pks: Iterable[int]) -> None:
    unread = Message.objects.filter(worker=worker, pk__in=list(pks), read_at=None)
    unread.update(read_at=timezone.now())


def forget_before(limit: datetime) -> int:
    return int(Message.objects.filter(created_at__lt=limit).delete()[0])
