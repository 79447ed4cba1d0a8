import json
import logging
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from crowd.requester.models import RequesterEvent
from crowd.requester.protocol import aws
from genie.lib import outbound
from genie.lib.errors import GenieError
from genie.lib.jobs import enqueue_missing
from genie.lib.logs import one_line

# Like topics that pass messages on.
HEADERS = {
    "Content-Type": "text/plain; charset=UTF-8",
    "x-amz-sns-message-type": "Notification",
}


def post(address: str, text: str) -> None:
    """Post over https to a public address; any status but 2xx is a failure."""
    answer = outbound.post(
        address, text.encode(), HEADERS, https_only=True, allow_private=False
    )
    if not 200 <= answer.status < 300:
        raise GenieError(
            f"The server answered with status {answer.status}.", code="not-delivered"
        )


JOB = "crowd.requester.services.periodic.deliver"
# So that only one process tries at a time.
LEASE = timedelta(minutes=5)
TRIES = 12
LONGEST_WAIT = timedelta(hours=6)
KEPT = timedelta(days=30)
AT_ONCE = 200
logger = logging.getLogger(__name__)


def deliver(event_pk: int) -> bool:
    """Send one notification, if it is due; a repeated delivery has the same id."""
    now = timezone.now()
    # Claimed by moving its time: if this process dies, it is due again when the lease
    # ends.
    due = RequesterEvent.objects.filter(pk=event_pk, sent_at=None, next_try_at__lte=now)
    if not due.update(next_try_at=now + LEASE):
        return False
    event = RequesterEvent.objects.get(pk=event_pk)
    try:
        _send(event)
    except Exception as error:  # noqa: BLE001 - whatever their side does is noted
        _failed(event, one_line(error, 300))
        return False
    RequesterEvent.objects.filter(pk=event_pk).update(
        sent_at=timezone.now(),
        next_try_at=None,
        n_tries=event.n_tries + 1,
        trouble="",
    )
    return True


def enqueue_due(now: datetime) -> int:
    due = RequesterEvent.objects.filter(sent_at=None, next_try_at__lte=now)
    pks = due.order_by("next_try_at", "pk").values_list("pk", flat=True)[:AT_ONCE]
    return enqueue_missing([(JOB, {"event": pk}) for pk in pks])


def forget_old(now: datetime) -> int:
    over = Q(sent_at__isnull=False) | Q(next_try_at=None)
    old = RequesterEvent.objects.filter(over, created_at__lt=now - KEPT)
    return int(old.delete()[0])


def _send(event: RequesterEvent) -> None:
    text = json.dumps(event.body)
    if event.transport == "SQS":
        aws.send_to_queue(event.destination, text)
    elif event.destination.startswith("https://"):
        post(event.destination, _as_topic(event, text))
    else:
        aws.send_to_topic(event.destination, text)


def _as_topic(event: RequesterEvent, text: str) -> str:
    return json.dumps(
        {
            "Type": "Notification",
            "MessageId": event.event_id,
            "TopicArn": f"arn:genie:sns:site:{event.requester.customer_id}:hits",
            "Message": text,
            "Timestamp": event.created_at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
    )


def _failed(event: RequesterEvent, trouble: str) -> None:
    n = event.n_tries + 1
    wait = min(timedelta(minutes=2**n), LONGEST_WAIT)
    again = None if n >= TRIES else timezone.now() + wait
    logger.warning("Notification %s was not delivered: %s", event.event_id, trouble)
    RequesterEvent.objects.filter(pk=event.pk).update(
        n_tries=n, next_try_at=again, trouble=trouble
    )
