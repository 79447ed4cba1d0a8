"""A second origin for requesters' pages, if the operator has set one up.

It serves none of our pages, and no cookie is read or set there. So a malicious page
could only attack a host that has no data.
"""

import re
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.request import split_domain_port

from crowd.requester.questions.questions import Question
from genie.lib.serving.security import POLICY

# Requesters' pages, their submissions, and our scripts within them.
_SERVED = re.compile(r"/work/(?:frame|look)/[^/]+/(?:/?mturk/externalSubmit)?")


def address(request: HttpRequest, path: str) -> str:
    return f"{_origin()}{path}" if _origin() else request.build_absolute_uri(path)


def site(request: HttpRequest) -> str:
    if _origin():
        parts = urlsplit(str(settings.GENIE["SITE_URL"]))
        return f"{parts.scheme}://{parts.netloc}"
    return f"{request.scheme}://{request.get_host()}"


def hosts(request: HttpRequest) -> set[str | None]:
    own = request.get_host().rsplit(":", 1)[0].strip("[]")
    return {own, urlsplit(_origin()).hostname or own}


def admit(response: HttpResponse, question: Question) -> HttpResponse:
    """Allow the frame of a question, and what it may load, by the page's policy."""
    if question.kind == "external":
        policy = POLICY.replace("frame-src 'self'", "frame-src 'self' https:")
    elif question.kind == "form":
        policy = POLICY.replace("img-src 'self' data:", "img-src 'self' data: https:")
    else:
        policy = POLICY
    frames = f"frame-src 'self' {_origin()}".rstrip()
    response["Content-Security-Policy"] = policy.replace("frame-src 'self'", frames)
    return response


def kept_apart(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if _origin() and not _is_there(request):
            raise Http404
        return view(request, *args, **kwargs)

    return wrapper


class RequesterOriginMiddleware:
    """Limits the second origin to requesters' pages, without cookies and sessions."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _origin() or not _is_there(request):
            return self.get_response(request)
        is_file = request.path_info.startswith(settings.STATIC_URL)
        if not is_file and not _SERVED.fullmatch(request.path_info):
            return _not_found()
        request.META.pop("HTTP_COOKIE", None)
        response = self.get_response(request)
        if is_file and response.status_code == HTTPStatus.NOT_FOUND:
            return _not_found()
        response.cookies.clear()
        return response


def _not_found() -> HttpResponse:
    return HttpResponseNotFound("Not found.\n", content_type="text/plain")


def _origin() -> str:
    return str(settings.GENIE["REQUESTER_ORIGIN"])


def _is_there(request: HttpRequest) -> bool:
    host, there = request.get_host().lower(), urlsplit(_origin())
    if host == there.netloc:
        return True
    # The same host with a port or a trailing dot, unless the site has that one, too.
    site = urlsplit(str(settings.GENIE["SITE_URL"])).hostname
    return split_domain_port(host)[0] == there.hostname != site
