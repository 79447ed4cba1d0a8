"""Rate limits of the API: one for each kind of request, counted separately."""

import time
from datetime import UTC, datetime
from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from genie.accounts.throttles import ByNetwork

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class ReadsOfVisitors(ByNetwork, AnonRateThrottle):
    """Reading without a token, by address."""

    what = "requests without a token"


class Reads(UserRateThrottle):
    """Reading with a token or a session, by account."""

    what = "reading requests"

    def allow_request(self, request: Request, view: Any) -> bool:
        # visitors are counted once, by their own limit
        read = request.method in _SAFE and request.user.is_authenticated
        return not read or super().allow_request(request, view)


class Writes(UserRateThrottle):
    """All changes without a separate limit."""

    what, scope, rate = "changes", "write", "600/hour"

    def allow_request(self, request: Request, view: Any) -> bool:
        counted = request.method not in _SAFE and request.user.is_authenticated
        return not counted or super().allow_request(request, view)


class SubmitThrottle(UserRateThrottle):
    """Submitting is expensive for the site: fewer requests an hour than reading."""

    what, scope, rate = "submissions", "submit", "60/hour"


class ValidateThrottle(UserRateThrottle):
    """Checking files has a separate limit, so that it uses up no submissions."""

    what, scope, rate = "checks of files", "validate", "60/hour"


def sentence(throttle: Any, seconds: float) -> str:
    at = datetime.fromtimestamp(time.time() + seconds, tz=UTC)
    limit = ""
    if throttle.num_requests is not None:
        per = {60: "a minute", 3600: "an hour", 86_400: "a day"}[throttle.duration]
        limit = f" are limited to {throttle.num_requests:,} {per}"
    what = getattr(throttle, "what", "requests").capitalize()
    return f"{what}{limit}; ask again in {seconds:,.0f} seconds, at {at:%H:%M:%S} UTC."
