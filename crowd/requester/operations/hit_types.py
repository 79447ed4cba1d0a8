import hashlib
import json
from functools import partial
from typing import Any

from django.db import transaction

from crowd.requester import selectors
from crowd.requester.models import RequesterEvent, RequesterHIT, RequesterHITType
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.services import events, money, requirements
from crowd.requester.services.deliver import deliver

MONTH = 2_592_000


@handles("CreateHITType")
def create_hit_type(call: Call, arguments: Arguments) -> Answer:
    return {"HITTypeId": find_or_make(call, arguments).entity_id}


@handles("UpdateHITTypeOfHIT")
def update_hit_type_of_hit(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit(call, arguments["HITId"])
    hit_type = selectors.hit_type(call, arguments["HITTypeId"])
    if hit.assignments.exists():
        raise TurkError(
            "The type of a HIT cannot be changed once a worker has accepted it.",
            "InvalidHITState",
        )
    fee = money.fee(hit_type.reward_cents, hit.max_assignments, hit_type.requirements)
    before = hit.reward_cents + hit.fee_cents
    more = (hit_type.reward_cents + fee - before) * hit.max_assignments
    # An expired HIT holds no money, whatever it would cost.
    if hit.expires_at > call.now:
        money.require(call.requester, max(more, 0))
    RequesterHIT.objects.filter(pk=hit.pk).update(
        hit_type=hit_type,
        reward_cents=hit_type.reward_cents,
        fee_cents=fee,
        touched_at=call.now,
    )
    money.hold(hit.pk, call.now)
    return {}


def find_or_make(call: Call, arguments: Arguments) -> RequesterHITType:
    required = arguments.get("QualificationRequirements") or []
    requirements.check(call, required)
    delay = arguments.get("AutoApprovalDelayInSeconds")
    values = {
        "title": arguments["Title"],
        "description": arguments["Description"],
        "keywords": arguments.get("Keywords") or "",
        "reward_cents": money.cents(arguments["Reward"]),
        "assignment_seconds": arguments["AssignmentDurationInSeconds"],
        "auto_approval_seconds": MONTH if delay is None else delay,
        "requirements": required,
    }
    text = json.dumps(values, sort_keys=True)
    return RequesterHITType.objects.get_or_create(
        requester=call.requester,
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        defaults=values,
    )[0]


@handles("UpdateNotificationSettings")
def update_notification_settings(call: Call, arguments: Arguments) -> Answer:
    hit_type = selectors.hit_type(call, arguments["HITTypeId"])
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
    if event.failure:
        raise TurkError(
            "The test notification was not delivered and will be tried again: "
            f"{event.failure}",
            "InvalidTransportEndpoint",
        )
