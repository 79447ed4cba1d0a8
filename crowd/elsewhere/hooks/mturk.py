"""Where a topic passes on what Mechanical Turk tells: signed, at a secret address.

A notice only makes us look, so that whoever could forge one can do no more than that.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowd.elsewhere.hooks.size import is_too_long
from crowd.elsewhere.services import notices, signed_notices, subscriptions
from crowd.platforms.mturk_protocol.notices import Envelope, hits_in, opened
from genie.lib.errors import GenieError
from genie.lib.logs import one_line

# The longest message that a topic passes on, and its envelope.
LARGEST_BYTES = 320 << 10
STATUS = {"not-signed": 403, "certificate-unreachable": 503}
logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def receive(request: HttpRequest, secret: str) -> HttpResponse:
    """Look at the HITs that a notice names, once; agree to our own topic's question."""
    expected = settings.GENIE["MTURK_NOTICE_SECRET"]
    if not expected or not constant_time_compare(secret, expected):
        raise Http404
    if is_too_long(request, LARGEST_BYTES):
        return JsonResponse({"error": "The notice is too long."}, status=413)
    try:
        envelope = opened(request.body)
        signed_notices.check(envelope)
        _follow(envelope)
    except GenieError as error:
        logger.warning("A notice was refused: %s", one_line(error.message))
        status = STATUS.get(error.code, 400)
        return JsonResponse({"error": error.message}, status=status)
    return HttpResponse(status=204)


def _follow(envelope: Envelope) -> None:
    if envelope.kind == "SubscriptionConfirmation":
        subscriptions.agree(envelope.topic, envelope.subscribe_url)
    elif envelope.kind == "Notification":
        notices.follow_hits("mturk", envelope.event_id, hits_in(envelope.message))
