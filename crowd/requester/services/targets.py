from collections.abc import Mapping
from typing import Any

from crowd.requester.protocol import aws
from crowd.requester.protocol.errors import TurkError
from crowd.requester.services import events
from genie.lib import outbound
from genie.lib.errors import GenieError


def check_target(notification: Mapping[str, Any]) -> None:
    """Refuse a target that is invalid, ours, or does not exist; no message is sent.

    This may wait for other servers, so callers hold no locks.

    Raises
    ------
    TurkError
        ``InvalidTransportEndpoint``, or ``InvalidParameterValue`` for the rest.
    """
    if notification["Version"] not in events.VERSIONS:
        raise TurkError(
            f"The Version of a notification is {' or '.join(events.VERSIONS)}."
        )
    if not notification["EventTypes"]:
        raise TurkError("EventTypes is empty.")
    try:
        _check(notification["Transport"], notification["Destination"])
    except GenieError as error:
        raise TurkError(error.message, "InvalidTransportEndpoint") from None


def _check(transport: str, destination: str) -> None:
    if transport == "Email" or not destination.strip():
        raise GenieError("Name a queue (SQS) or a topic (SNS) as the Destination.")
    if transport == "SQS":
        aws.check_queue(destination)
    elif destination.startswith("https:"):
        outbound.check_reachable(destination, https_only=True)
    else:
        aws.check_topic(destination)
