"""A moment of the past in a query: `?at=`."""

from __future__ import annotations

from datetime import datetime

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from genie.lib.errors import GenieError
from leaderboard.selectors.moment import read_moment

AT = OpenApiParameter(
    "at",
    OpenApiTypes.STR,
    description=(
        "As it was then: a date (its end), an ISO time, or 20261120T162111Z; not to come."
    ),
)


def moment(request: Request) -> datetime | None:
    """Read `?at=`, or say how it is written."""
    raw = request.query_params.get("at", "")
    if not raw:
        return None
    found = read_moment(raw)
    if found is None:
        raise GenieError(
            "at must be a moment of the past: 2026-11-20, 2026-11-20T16:21:11Z or "
            "20261120T162111Z.",
            code="bad-moment",
        )
    return found
