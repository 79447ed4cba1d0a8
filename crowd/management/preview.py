"""A site of one page: a HIT template with its example, answered but never stored."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, HttpResponseNotFound, JsonResponse
from django.shortcuts import render

from crowd.hit_templates import HITTemplate
from crowd.hits.models.campaign import HITType, Item
from crowd.hits.services.check_answers import ratings_of
from crowd.workers.hit_form import REMARK_CHARACTERS, Shown, sent_to, shown_item
from genie.lib.errors import GenieError

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
        if request.method != "POST":
            return self._page(request, {})
        posted = request.POST.dict()
        sentence = self._sentence(posted)
        if request.headers.get("Accept", "").startswith("application/json"):
            return JsonResponse({"error": sentence, "final": False}, status=422)
        return self._page(request, posted, sentence)

    def _sentence(self, posted: Mapping[str, Any]) -> str:
        raw_answers = sent_to(self._shown(posted))
        try:
            ratings = ratings_of(self.hit_type, self.item, raw_answers)
        except GenieError as error:
            return error.message
        parts = [
            f"{rating.criterion}{'@' if rating.slot else ''}{rating.slot} = "
            f"{rating.value:g}" + (f" {rating.detail}" if rating.detail else "")
            for rating in ratings
        ]
        return (
            f"This is a preview; nothing was stored. It would have stored: "
            f"{'; '.join(parts)}."
        )

    def _shown(self, posted: Mapping[str, Any]) -> Shown:
        return shown_item(self.hit_type, self.item, posted)

    def _page(
        self, request: HttpRequest, posted: Mapping[str, Any], error: str = ""
    ) -> HttpResponse:
        context = {
            "assignment": SimpleNamespace(pk=0, reward_cents=0, deadline_at=None),
            "hit_type": self.hit_type,
            "pool": "preview",
            "items": [self._shown(posted)],
            "remark": posted.get("remark", ""),
            "remark_characters": REMARK_CHARACTERS,
            "error": error,
            "progress": SimpleNamespace(n_done=0, n_all=1),
            "earnings": SimpleNamespace(pending=0),
            "seconds_left": 1800,
        }
        return render(request, "worker_site/hit.html", context)


def _static(path: str) -> HttpResponseBase:
    try:
        file_path = finders.find(path)
    except SuspiciousFileOperation:
        file_path = None
    if not isinstance(file_path, str):
        return HttpResponseNotFound("There is no such file.")
    kind, _ = mimetypes.guess_type(path)
    return HttpResponse(Path(file_path).read_bytes(), content_type=kind)
