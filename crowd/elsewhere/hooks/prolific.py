"""Where Prolific sends its notices: believed when signed, followed once."""

from __future__ import annotations

import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowd.elsewhere.hooks.size import is_too_long
from crowd.elsewhere.services import notices
from crowd.platforms.prolific_protocol.notices import read
from genie.lib.errors import GenieError

LARGEST_BYTES = 64 << 10
STATUS = {"not-signed": 401, "too-old": 401}


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """Take a notice; whatever it says, what is true is asked of the API afterwards."""
    if is_too_long(request, LARGEST_BYTES):
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
            {"error": error.message}, status=STATUS.get(error.code, 400)
        )
    event_id = request.headers.get("X-Event-Id", "")
    notices.follow("prolific", event_id, notice.resource_id)
    return HttpResponse(status=204)
