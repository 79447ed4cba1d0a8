"""Mechanical Turk's notifications: hints where to look, never the truth.

Notices come twice, late, in any order or not at all, and contain neither workers nor
answers. So only the names of HITs are read from them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from genie.lib.errors import GenieError

_ENTITY = re.compile(r"[A-Z0-9]{1,64}")


@dataclass(frozen=True)
class Envelope:
    kind: str
    event_id: str
    message: str
    topic: str = ""
    subscribe_url: str = ""
    # all of it unchanged, for the signature
    fields: Mapping[str, Any] = field(default_factory=dict)


def opened(body: bytes) -> Envelope:
    """Read a topic's message; a notice may come without an envelope.

    Raises
    ------
    GenieError
        ``unreadable`` for anything else.
    """
    text = body.decode("utf-8", "replace")
    envelope = _object(text)
    if isinstance(envelope.get("Events"), list):
        return Envelope("Notification", _word(envelope, "EventDocId"), text)
    kind = _word(envelope, "Type")
    if not kind:
        raise GenieError("The notice is empty.", code="unreadable")
    return Envelope(
        kind,
        _word(envelope, "MessageId"),
        _word(envelope, "Message"),
        _word(envelope, "TopicArn"),
        _word(envelope, "SubscribeURL"),
        envelope,
    )


def hits_in(body: str) -> frozenset[str]:
    """Return the HITs in a message; empty if it is no notice.

    SNS envelopes, whose `Message` is the notice, are read, too.
    """
    notice = _object(body)
    if isinstance(notice.get("Message"), str):
        notice = _object(notice["Message"])
    events = notice.get("Events")
    if not isinstance(events, list):
        return frozenset()
    named = (event.get("HITId") for event in events if isinstance(event, dict))
    return frozenset(
        name for name in named if isinstance(name, str) and _ENTITY.fullmatch(name)
    )


def _word(envelope: dict[str, Any], name: str) -> str:
    value = envelope.get(name)
    return value if isinstance(value, str) else ""


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
