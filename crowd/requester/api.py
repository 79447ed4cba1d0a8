"""AWS JSON 1.1 over HTTP.

Every call takes the same steps: its signature is checked, then its requester's rate
limit, then the shape of its arguments; changes due by time are settled; then the
operation runs in one transaction that locks the requester's row. So two calls of one
requester never run in parallel.
"""

import json
import logging
import time
import uuid
from collections.abc import Mapping
from typing import Any

from django.core.cache import cache
from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from crowd.requester import operations
from crowd.requester.models import AccessKey, Requester
from crowd.requester.protocol import aws, clock
from crowd.requester.protocol.call import HANDLERS, Call
from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.sigv4 import SignedRequest, verify
from crowd.requester.protocol.validate import check_request
from crowd.requester.services import events
from crowd.requester.services.access_keys import live_secrets
from crowd.requester.services.settle import settle
from genie.accounts.throttles import WrongTokens
from genie.lib import outbound
from genie.lib.database import unavailable
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


# Calls of one requester run one after another, each in a thread of the server. This
# many leave threads for other users. Clients that are refused wait and try again.
CALLS = 500
WINDOW_SECONDS = 10


def count(requester: Requester) -> None:
    """Count a call; refuse it if there were too many recently.

    Raises
    ------
    TurkError
        A ``ThrottlingException``, after which Amazon's clients try again later.
    """
    window = int(time.time()) // WINDOW_SECONDS
    key = f"turk-calls-{requester.pk}-{window}"
    if cache.add(key, 1, 2 * WINDOW_SECONDS):
        return
    try:
        n = cache.incr(key)
    except ValueError:
        return  # It was evicted since, because the cache was full.
    if n > CALLS:
        raise _too_many()


def count_refused(request: HttpRequest) -> None:
    """Count a call without a valid signature, by address; refuse it as `count` does."""
    if not WrongTokens().one_more(request):
        raise _too_many()


def _too_many() -> TurkError:
    return TurkError("Rate exceeded.", "Throttling", kind="ThrottlingException")


assert operations.__all__  # noqa: S101  importing them fills the table of handlers
FOR_PEOPLE = (
    "Programs that use the Mechanical Turk Requester API send signed requests to this "
    "address. Requesters create access keys at /requester/.\n"
)
TARGET = "MTurkRequesterServiceV20170117."
logger = logging.getLogger(__name__)


@csrf_exempt  # A signature over the whole request replaces the cookie's token.
def endpoint(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        kind = "text/plain; charset=utf-8"
        return HttpResponse(
            FOR_PEOPLE, status=405, content_type=kind, headers={"Allow": "POST"}
        )
    try:
        return _response(200, _answer(request))
    except TurkError as error:
        # Mechanical Turk ends every message with the time, and so do we.
        milliseconds = int(clock.now().timestamp() * 1000)
        return _response(
            error.status,
            {
                "__type": error.kind,
                "Message": f"{error.message} ({milliseconds})",
                "TurkErrorCode": error.turk_code,
            },
        )
    except Exception as error:
        logger.exception("An operation of the requester API failed")
        return _response(
            503 if unavailable(error) else 500,
            {
                "__type": "ServiceFault",
                "Message": "The service failed. Try again.",
                "TurkErrorCode": "AWS.ServiceUnavailable",
            },
        )


def _answer(request: HttpRequest) -> dict[str, Any]:
    try:
        body = request.body
    except RequestDataTooBig:
        raise TurkError(
            "The request is too long.", kind="SerializationException", status=413
        ) from None
    requester = _caller(request, body)
    count(requester)
    target = request.headers.get("X-Amz-Target", "")
    name = target.removeprefix(TARGET)
    if not target.startswith(TARGET) or name not in HANDLERS:
        raise TurkError("There is no such operation.", kind="UnknownOperationException")
    arguments = check_request(name, _parse(body))
    if arguments.get("Notification") is not None:
        # Before any row is locked, because this may wait for other servers.
        check_target(arguments["Notification"])
    now = clock.now()
    settle(requester, now)
    with transaction.atomic():
        # One call of a requester after another, so that no two spend the same money.
        locked = Requester.objects.select_for_update().get(pk=requester.pk)
        return HANDLERS[name](Call(locked, name, now), arguments)


def _caller(request: HttpRequest, body: bytes) -> Requester:
    signed = SignedRequest(
        method=request.method or "",
        path=request.path,
        query=request.META.get("QUERY_STRING", ""),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
    )
    try:
        key_id = verify(signed, live_secrets, timezone.now())
    except TurkError:
        count_refused(request)
        raise
    return AccessKey.objects.select_related("requester").get(key_id=key_id).requester


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise TurkError(
            "The body is not JSON.", kind="SerializationException"
        ) from None


def _response(status: int, answer: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(
        json.dumps(answer), status=status, content_type="application/x-amz-json-1.1"
    )
    response["x-amzn-RequestId"] = str(uuid.uuid4())
    response["Cache-Control"] = "no-store"
    return response


app_name = "turk"
# People omit the slash at the end, and no program follows a redirect of a signed
# request.
urlpatterns = [
    path("", endpoint, name="endpoint-bare"),
    # The deployment check takes a plain "/" for a mistake.
    re_path(r"^(?:/)$", endpoint, name="endpoint"),
]
