"""Where a topic passes on what Mechanical Turk tells: at an address that is a secret.

A notice only makes us look, so that whoever learns the address can do no more than that.
"""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowd.platform_hooks.size import is_too_long
from crowd.platforms.mturk_notices import Envelope, hits_in, opened
from crowd.services import notices, subscriptions
from genie.lib.errors import GenieError

# The longest message that a topic passes on, and its envelope.
LARGEST_BYTES = 320 << 10


@csrf_exempt
@require_POST
def receive(request: HttpRequest, secret: str) -> HttpResponse:
    """Look at the HITs that a notice names, once; agree to our own topic's question."""
    wanted = settings.GENIE["MTURK_NOTICE_SECRET"]
    if not wanted or not constant_time_compare(secret, wanted):
        raise Http404
    if is_too_long(request, LARGEST_BYTES):
        return JsonResponse({"error": "That is too long for a notice."}, status=413)
    try:
        _follow(opened(request.body))
    except GenieError as error:
        return JsonResponse({"error": error.message}, status=400)
    return HttpResponse(status=204)


def _follow(envelope: Envelope) -> None:
    if envelope.kind == "SubscriptionConfirmation":
        subscriptions.agree(envelope.topic, envelope.subscribe_url)
    elif envelope.kind == "Notification":
        notices.follow_hits("mturk", envelope.event_id, hits_in(envelope.message))
