"""A site of one page: a HIT template with its example, answered but never stored."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, HttpResponseNotFound

from crowd.hit_templates import HITTemplate
from crowd.hits.models.campaign import HITType, Item
from crowd.workers.hit_preview import preview

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

STATIC = "/static/"
# As strict as the site: what a page may not do there, it may not do here.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'"
)


class Preview:
    """Shows one item of a template as workers see it, and says what an answer means."""

    def __init__(self, template: HITTemplate, data: Mapping[str, Any]) -> None:
        template.check(data)
        self.hit_type = HITType(
            template=template.slug,
            scale=template.scale,
            criteria=dict(template.questions),
            form=dict(template.form),
            title=template.title,
            description=template.description,
        )
        self.item = Item(pk=0, key="preview", data=dict(data))

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Answer one request (WSGI)."""
        response = self.respond(WSGIRequest(environ))
        response.headers["Content-Security-Policy"] = POLICY
        status = HTTPStatus(response.status_code)
        start_response(f"{status.value} {status.phrase}", list(response.items()))
        return list(response)

    def respond(self, request: HttpRequest) -> HttpResponseBase:
        """Give a file of the site's, the page, or what an answer would be stored as."""
        if request.path.startswith(STATIC):
            return _static(request.path.removeprefix(STATIC))
        return preview(request, self.hit_type, self.item)


def _static(path: str) -> HttpResponseBase:
    try:
        file_path = finders.find(path)
    except SuspiciousFileOperation:
        file_path = None
    if not isinstance(file_path, str):
        return HttpResponseNotFound("There is no such file.")
    kind, _ = mimetypes.guess_type(path)
    return HttpResponse(Path(file_path).read_bytes(), content_type=kind)
