import logging
import time

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowd.elsewhere.services import notices, signed_notices, subscriptions
from crowd.platforms.mturk_protocol.notices import Envelope, hits_in, opened
from crowd.platforms.prolific_protocol.notices import read
from genie.lib.errors import GenieError
from genie.lib.logs import one_line


def is_too_long(request: HttpRequest, largest_bytes: int) -> bool:
    """Check the request's declared length; no more than that is ever read."""
    length = request.headers.get("Content-Length") or "0"
    return not (length.isascii() and length.isdecimal()) or int(length) > largest_bytes


# The longest message that a topic passes on, and its envelope.
_LARGEST_OF_A_TOPIC = 320 << 10
_STATUS_OF_A_TOPIC = {"not-signed": 403, "certificate-unreachable": 503}
logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def receive_mturk(request: HttpRequest, secret: str) -> HttpResponse:
    """Queue a look at the HITs of a notice, once; confirm our own topic's subscription."""
    expected = settings.GENIE["MTURK_NOTICE_SECRET"]
    if not expected or not constant_time_compare(secret, expected):
        raise Http404
    if is_too_long(request, _LARGEST_OF_A_TOPIC):
        return JsonResponse({"error": "The notice is too long."}, status=413)
    try:
        envelope = opened(request.body)
        signed_notices.check(envelope)
        _follow(envelope)
    except GenieError as error:
        logger.warning("A notice was refused: %s", one_line(error.message))
        status = _STATUS_OF_A_TOPIC.get(error.code, 400)
        return JsonResponse({"error": error.message}, status=status)
    return HttpResponse(status=204)


def _follow(envelope: Envelope) -> None:
    if envelope.kind == "SubscriptionConfirmation":
        subscriptions.agree(envelope.topic, envelope.subscribe_url)
    elif envelope.kind == "Notification":
        notices.follow_hits("mturk", envelope.event_id, hits_in(envelope.message))


_LARGEST_OF_PROLIFIC = 64 << 10
_STATUS_OF_PROLIFIC = {"not-signed": 401, "too-old": 401}


@csrf_exempt
@require_POST
def receive_prolific(request: HttpRequest) -> HttpResponse:
    """Take a notice; its content is not trusted, the API is asked for the state."""
    if is_too_long(request, _LARGEST_OF_PROLIFIC):
        return JsonResponse({"error": "The notice is too long."}, status=413)
    try:
        notice = read(
            settings.GENIE["PROLIFIC_WEBHOOK_SECRET"],
            body=request.body,
            timestamp=request.headers.get("X-Prolific-Request-Timestamp", ""),
            signed=request.headers.get("X-Prolific-Request-Signature", ""),
            now=time.time(),
        )
    except GenieError as error:
        return JsonResponse(
            {"error": error.message}, status=_STATUS_OF_PROLIFIC.get(error.code, 400)
        )
    event_id = request.headers.get("X-Event-Id", "")
    notices.follow("prolific", event_id, notice.resource_id)
    return HttpResponse(status=204)


app_name = "hooks"
urlpatterns = [
    path("prolific/", receive_prolific, name="prolific"),
    path("mturk/<str:secret>/", receive_mturk, name="mturk"),
]
