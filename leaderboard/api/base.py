"""Base of all routes of the API: JSON for results and errors, throttled use."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from django.http import Http404
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_view,
)
from rest_framework.exceptions import ErrorDetail, Throttled
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import AnonRateThrottle, BaseThrottle, UserRateThrottle
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from genie.accounts.throttles import ByNetwork
from leaderboard.api.problems import KINDS, MEDIA_TYPE, ProblemSerializer
from leaderboard.api.query import Body, Query


# Pages of lists: bounded in size; a page that does not exist is 404.
class Pages(PageNumberPagination):
    """`?page=2&page_size=50`."""

    page_size: int = 100
    max_page_size: int = 500
    page_size_query_param = "page_size"
    invalid_page_message = "There is no page {page_number} of this list."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page for OpenAPI 3.1, which has no `nullable`."""
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": "Total over all pages."},
                "next": address,
                "previous": address,
                "results": schema,
            },
        }


class Growing(Pages):
    """A list to which rows are added: `next` starts after the last row of the page.

    So readers get each row once although rows are added meanwhile. A request for a
    `page` by number gets that page.
    """

    # the sort key, which is the cursor
    key = "pk"
    newest_first = True
    after: int | None = None
    request: Any

    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> Any:
        self.by_number = "page" in request.query_params
        if self.by_number:
            return super().paginate_queryset(queryset, request, view)
        self.request, self.n = request, queryset.count()
        rows = queryset.order_by(f"{'-' * self.newest_first}{self.key}")
        if (cursor := view.query.get("cursor")) is not None:
            beyond = "lt" if self.newest_first else "gt"
            rows = rows.filter(**{f"{self.key}__{beyond}": cursor})
        size: Any = self.get_page_size(request)
        # one more than is shown, to see whether there are more; the database sorts keys
        # faster than long rows
        found = list(rows.filter(pk__in=rows.values("pk")[: size + 1]))
        if len(found) > size:
            self.after = getattr(found[size - 1], self.key)
        return found[:size]

    def get_paginated_response(self, data: Any) -> Response:
        if self.by_number:
            return super().get_paginated_response(data)
        here = remove_query_param(self.request.build_absolute_uri(), "cursor")
        more = self.after is not None
        following = replace_query_param(here, "cursor", self.after) if more else None
        answer = {"count": self.n, "next": following, "previous": None, "results": data}
        return Response(answer)


class OldestFirst(Growing):
    newest_first = False


class ByPosition(OldestFirst):
    """Outputs and instances, in the order of the task."""

    key = "position"


class ByNumber(OldestFirst):
    """Entries of the public log."""

    key = "number"


# Rate limits of the API: one for each kind of request, counted separately.
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
    return f"{what}{limit}. Try again in {seconds:,.0f} seconds, at {at:%H:%M:%S} UTC."


def _limit_headers(throttles: Iterable[Any]) -> dict[str, str]:
    """Return the headers of draft-ietf-httpapi-ratelimit-headers-10."""
    policies, left = [], []
    for one in throttles:
        if not hasattr(one, "history"):  # it counts requests of other kinds
            continue
        oldest = one.history[-1] if one.history else one.now
        policies.append(f'"{one.scope}";q={one.num_requests};w={one.duration}')
        seconds = math.ceil(oldest + one.duration - one.now)
        left.append(
            f'"{one.scope}";r={one.num_requests - len(one.history)};t={seconds}'
        )
    if not policies:
        return {}
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


# How long a public response may be cached, in seconds.
_FRESH_SECONDS = 60


@method_decorator(conditional_page, name="dispatch")
class Shareable(APIView):
    """A view with an ETag for each GET; any cache may keep what every visitor gets."""

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        # caches must not give one reader's response to another
        patch_vary_headers(answer, ["Authorization", "Cookie"])
        if request.method not in {"GET", "HEAD"}:
            return answer
        # after a failure of the server, the user may be unknown
        public = answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and not (
            request.user.is_authenticated or "Authorization" in request.headers
        )
        if public:
            # pages of other sites may read it, without credentials
            answer["Access-Control-Allow-Origin"] = "*"
        if public and answer.status_code == HTTPStatus.OK:
            patch_cache_control(answer, public=True, max_age=_FRESH_SECONDS)
        else:
            patch_cache_control(answer, private=True, no_cache=True)
        return answer


class View(Shareable, GenericAPIView[Any]):
    """JSON, bounded use, and no parameter that the view does not declare."""

    # JSON only: the framework's own browsable pages need inline scripts.
    renderer_classes = [JSONRenderer]
    throttle_classes = [ReadsOfVisitors, Reads, Writes]
    pagination_class = Pages
    # the parameters of its GET; anything else is refused
    query_class: type[Query] = Query
    query: dict[str, Any]
    # those of its parameters that only choose rows, each with its lookup
    filters: Mapping[str, str] = {}
    # the body of its POST, and the limit that takes the place of the usual ones
    body_class: type[Body]
    post_throttle: type[BaseThrottle] | None = None
    throttles: Sequence[BaseThrottle] = ()
    # the group of its operations in the manual; without it, the first part of the address
    tag = ""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in {"GET", "HEAD"}:
            # before the handler runs, so that no view can forget to refuse a misspelled
            # parameter
            parameters = self.query_class(data=request.query_params)
            parameters.is_valid(raise_exception=True)
            self.query = parameters.validated_data

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        for header, value in _limit_headers(self.throttles).items():
            answer[header] = value
        return answer

    def get_throttles(self) -> list[BaseThrottle]:
        own = self.post_throttle if self.request.method == "POST" else None
        return [own()] if own else super().get_throttles()

    def check_throttles(self, request: Request) -> None:
        refused: list[tuple[float, Any]] = []
        self.throttles = self.get_throttles()
        for throttle in self.throttles:
            if not throttle.allow_request(request, self):
                refused.append((throttle.wait() or 1.0, throttle))
        if refused:
            seconds, throttle = max(refused, key=lambda one: one[0])
            # our own sentence; the framework's would repeat the seconds
            error = Throttled(seconds)
            error.detail = ErrorDetail(sentence(throttle, seconds), "throttled")
            raise error

    def pick(self, *names: str) -> dict[str, Any]:
        return {name: self.query[name] for name in names if name in self.query}

    def filter_queryset(self, queryset: Any) -> Any:
        chosen = {
            self.filters[name]: value
            for name, value in self.pick(*self.filters).items()
        }
        return queryset.filter(**chosen) if chosen else queryset

    def body(self) -> dict[str, Any]:
        serializer: Body = self.body_class(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)


class ListView(View, ListAPIView[Any]):
    """A view with `get_queryset`, whose rows are listed page by page."""


class DetailView(View, RetrieveAPIView[Any]):
    """A view of one object, found by `get_queryset` or made by `get_object`."""

    def get_object(self) -> Any:
        try:
            return super().get_object()
        except OverflowError as error:  # no database numbers rows that high
            raise Http404 from error


def operation(
    summary: str,
    description: str = "",
    *codes: str,
    method: str = "get",
    without: Sequence[str] = (),
    **options: Any,
) -> Callable[[Any], Any]:
    """Document a method, or that method of a class, with refusals that nothing implies."""
    document = extend_schema(summary=summary, description=description, **options)

    def decorate(view: Any) -> Any:
        of_class = isinstance(view, type)
        (extend_schema_view(**{method: document}) if of_class else document)(view)
        function = vars(view)[method] if of_class else view
        function.codes, function.without = codes, without
        return view

    return decorate


def problems(*codes: str) -> dict[Any, Any]:
    """Describe refusals by their codes, with those of every operation."""
    by_status: dict[int, list[str]] = {}
    for code in ("authentication-failed", "not-acceptable", "throttled", *codes):
        by_status.setdefault(KINDS[code].status, []).append(code)
    return {
        (status, MEDIA_TYPE): OpenApiResponse(
            ProblemSerializer,
            description="Codes: " + ", ".join(sorted(codes_of_status)) + ".",
        )
        for status, codes_of_status in sorted(by_status.items())
    }


# The header under which a program may repeat a request.
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Your own identifier for this request, such as a UUID. If you repeat the "
    "request with the same key and content within seven days, you get the "
    "original result with `Idempotent-Replayed: true`.",
)
