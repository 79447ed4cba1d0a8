"""Notifications that requesters asked for, stored and queued with their event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from crowd.requester.models import (
    Requester,
    RequesterAssignment,
    RequesterEvent,
    RequesterHIT,
    new_entity_id,
)
from genie.lib.jobs import enqueue

VERSION = "2014-08-15"
# botocore's own model names the older one; the messages are the same for both
VERSIONS = (VERSION, "2006-05-05")


def about_hit(hit: RequesterHIT, event: str, now: datetime) -> None:
    _note(hit, event, now, {})


def about_work(assignment: RequesterAssignment, event: str, now: datetime) -> None:
    """Store an event of an assignment, without its worker and answer."""
    _note(assignment.hit, event, now, {"AssignmentId": assignment.entity_id})


def store(
    requester: Requester,
    notification: Mapping[str, Any],
    event: Mapping[str, Any],
    now: datetime,
) -> RequesterEvent:
    event_id = new_entity_id()
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    event_row = RequesterEvent.objects.create(
        requester=requester,
        event_id=event_id,
        transport=notification["Transport"],
        destination=notification["Destination"],
        body={
            "EventDocVersion": VERSION,
            "EventDocId": event_id,
            "CustomerId": requester.customer_id,
            "Events": [{"EventTimestamp": stamp, **event}],
        },
        created_at=now,
    )
    enqueue("crowd.requester.services.deliver.deliver", pk=event_row.pk)
    return event_row


def _note(
    hit: RequesterHIT, event: str, now: datetime, more: Mapping[str, str]
) -> None:
    hit_type = hit.hit_type
    notification = hit_type.notification
    if (
        not hit_type.notification_active
        or not notification
        or event not in notification["EventTypes"]
    ):
        return
    body = {
        "EventType": event,
        "HITTypeId": hit_type.entity_id,
        "HITId": hit.entity_id,
        **more,
    }
    store(hit.requester, notification, body, now)
