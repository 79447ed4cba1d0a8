import json
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from crowd.requester.models import RequesterEvent
from crowd.requester.protocol import aws
from genie.lib import outbound
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.runner import Runner

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


RUNNER = Runner(
    RequesterEvent,
    "crowd.requester.services.deliver.deliver",
    where=Q(sent_at=None),
    pauses=[min(timedelta(minutes=2**n), timedelta(hours=6)) for n in range(1, 12)],
    lease=timedelta(minutes=5),
)
KEPT = timedelta(days=30)


def deliver(pk: int) -> bool:
    """Send one notification, if it is due; a repeated delivery has the same id."""
    return RUNNER.run(pk, _deliver)


def _deliver(row: QuerySet[RequesterEvent]) -> None:
    try:
        _send(row.get())
    except Exception as error:
        raise GenieError(one_line(error, 300), permanent=False) from error
    row.update(sent_at=timezone.now(), failure="")


def forget_old() -> None:
    over = Q(sent_at__isnull=False) | Q(failure_permanent=True)
    RequesterEvent.objects.filter(over, created_at__lt=timezone.now() - KEPT).delete()


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
