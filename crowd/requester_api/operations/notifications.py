"""Which events a requester wants to hear of."""

from __future__ import annotations

from typing import Any

from crowd.models import RequesterHITType
from crowd.requester_api import events, find
from crowd.requester_api.call import Answer, Arguments, Call, handles
from crowd.requester_api.errors import TurkError
from genie.lib import outbound

STARTS = {"SQS": ("https://", "http://"), "SNS": ("arn:", "https://")}


@handles("UpdateNotificationSettings")
def update_notification_settings(call: Call, arguments: Arguments) -> Answer:
    kind = find.hit_type(call, arguments["HITTypeId"])
    wanted, active = arguments.get("Notification"), arguments.get("Active")
    if wanted is None and active is None:
        raise TurkError("Give a Notification, or Active, or both.")
    values: dict[str, Any] = {}
    if wanted is not None:
        _check(wanted)
        values = {"notification": wanted, "notification_active": True}
    elif kind.notification is None:
        raise TurkError("This HIT type has no notification yet; give one.")
    if active is not None:
        values["notification_active"] = active
    RequesterHITType.objects.filter(pk=kind.pk).update(**values)
    return {}


@handles("SendTestEventNotification")
def send_test_event(call: Call, arguments: Arguments) -> Answer:
    _check(arguments["Notification"])
    event = {"EventType": arguments["TestEventType"]}
    events.store(call.requester, arguments["Notification"], event, call.now)
    return {}


def _check(wanted: dict[str, Any]) -> None:
    if wanted["Version"] != events.VERSION:
        raise TurkError(f"The Version of a notification is {events.VERSION}.")
    if not wanted["Destination"].strip() or wanted["Transport"] == "Email":
        raise TurkError(
            "Name a queue (SQS) or a topic (SNS) as the Destination.",
            "InvalidTransportEndpoint",
        )
    if not wanted["Destination"].startswith(STARTS[wanted["Transport"]]):
        raise TurkError(
            "A queue is named by its address, a topic by its ARN or by the address "
            "(https) that it would pass notifications on to.",
            "InvalidTransportEndpoint",
        )
    if wanted["Transport"] == "SNS" and wanted["Destination"].startswith("https:"):
        _check_address(wanted["Destination"])
    if not wanted["EventTypes"]:
        raise TurkError("EventTypes names no event.")


def _check_address(address: str) -> None:
    try:
        outbound.checked(address, https_only=True)
    except outbound.Refused as error:
        raise TurkError(error.message, "InvalidTransportEndpoint") from None
