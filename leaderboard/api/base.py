"""Base of all routes of the API: JSON for results and errors, throttled use."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework.exceptions import ErrorDetail, Throttled
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from leaderboard.api.body import Body
from leaderboard.api.pagination import Pages
from leaderboard.api.problems import KINDS, MEDIA_TYPE, ProblemSerializer
from leaderboard.api.query import Query
from leaderboard.api.throttles import Reads, ReadsOfVisitors, Writes, sentence

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

    def get_throttles(self) -> list[BaseThrottle]:
        own = self.post_throttle if self.request.method == "POST" else None
        return [own()] if own else super().get_throttles()

    def check_throttles(self, request: Request) -> None:
        refused: list[tuple[float, Any]] = []
        for throttle in self.get_throttles():
            if not throttle.allow_request(request, self):
                refused.append((throttle.wait() or 1.0, throttle))
        if refused:
            seconds, throttle = max(refused, key=lambda one: one[0])
            # our own sentence; the framework's would repeat the seconds
            error = Throttled(seconds)
            error.detail = ErrorDetail(sentence(throttle, seconds), "throttled")
            raise error

    def chosen(self, *names: str) -> dict[str, Any]:
        return {name: self.query[name] for name in names if name in self.query}

    def filter_queryset(self, queryset: Any) -> Any:
        chosen = {
            self.filters[name]: value
            for name, value in self.chosen(*self.filters).items()
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
