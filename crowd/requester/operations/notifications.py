from functools import partial
from typing import Any

from django.db import transaction

from crowd.requester.models.account import RequesterHITType
from crowd.requester.models.records import RequesterEvent
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.selectors import own_rows
from crowd.requester.services import events
from crowd.requester.services.deliver import deliver


@handles("UpdateNotificationSettings")
def update_notification_settings(call: Call, arguments: Arguments) -> Answer:
    hit_type = own_rows.hit_type(call, arguments["HITTypeId"])
    notification, active = arguments.get("Notification"), arguments.get("Active")
    if notification is None and active is None:
        raise TurkError("Give a Notification, or Active, or both.")
    values: dict[str, Any] = {}
    if notification is not None:
        values = {"notification": notification, "notification_active": True}
    elif hit_type.notification is None:
        raise TurkError("This HIT type has no notification yet; give one.")
    if active is not None:
        values["notification_active"] = active
    RequesterHITType.objects.filter(pk=hit_type.pk).update(**values)
    return {}


@handles("SendTestEventNotification")
def send_test_event(call: Call, arguments: Arguments) -> Answer:
    """Send at once, so that the caller gets the error."""
    event = {"EventType": arguments["TestEventType"]}
    stored = events.store(call.requester, arguments["Notification"], event, call.now)
    # Not while rows are locked, because this waits for other servers.
    transaction.on_commit(partial(_send, stored.pk))
    return {}


def _send(event_pk: int) -> None:
    deliver(event_pk)
    event = RequesterEvent.objects.get(pk=event_pk)
    if event.trouble:
        raise TurkError(
            "The test notification was not delivered and will be tried again: "
            f"{event.trouble}",
            "InvalidTransportEndpoint",
        )
