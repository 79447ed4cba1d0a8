"""Show a HIT template in a browser as workers would see it."""

from __future__ import annotations

import json
import mimetypes
import sys
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIServer, make_server

from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from django.core.handlers.wsgi import WSGIRequest
from django.core.management.base import CommandError, CommandParser
from django.http import HttpResponse, HttpResponseNotFound

from crowd import hit_templates
from crowd.hit_templates import HITTemplate
from crowd.hits.models import HITType, Item
from crowd.workers.hit_form import preview
from genie.management import STREAM, RefusingCommand

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase


class Command(RefusingCommand):
    help = (
        "Show a HIT template in a browser with its example or your own item. After "
        "you answer, you see what would be saved. Your answers are not saved."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="slug of the HIT template")
        parser.add_argument(
            "--data",
            type=Path,
            help="JSON file with one item to show instead of the example",
        )
        parser.add_argument(
            "--port",
            type=int,
            default=8010,
            help="port to listen on (0: any free port)",
        )
        parser.add_argument(
            "--no-browser",
            action="store_true",
            help="only print the address, do not open a browser",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        template = hit_templates.get(options["name"])
        preview = Preview(template, _item(options["data"]) or template.example)
        try:
            server = make_server("127.0.0.1", options["port"], preview)
        except OSError as error:
            raise CommandError(
                f"Port {options['port']} is in use. Choose a different one with --port."
            ) from error
        with server:
            self._serve(server, open_browser=not options["no_browser"])

    def _serve(self, server: WSGIServer, *, open_browser: bool) -> None:
        address = f"http://127.0.0.1:{server.server_port}/"
        self.stdout.write(f"Showing the template at {address}; press Ctrl-C to stop.")
        if open_browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            self.stdout.write("")


def _item(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        text = sys.stdin.read() if path == STREAM else path.read_text("utf-8")
        data = json.loads(text)
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error
    if not isinstance(data, dict):
        raise CommandError(f"{path} must contain one item as a JSON object.")
    return data


STATIC = "/static/"
# As strict as the site, so that a page can do no more here than there.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'"
)


class Preview:
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
        response = self.respond(WSGIRequest(environ))
        response.headers["Content-Security-Policy"] = POLICY
        status = HTTPStatus(response.status_code)
        start_response(f"{status.value} {status.phrase}", list(response.items()))
        return list(response)

    def respond(self, request: HttpRequest) -> HttpResponseBase:
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
