"""Show a HIT template in a browser as workers would see it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIServer, make_server

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowd import hit_templates
from crowd.management.preview import Preview
from genie.lib.errors import GenieError


class Command(BaseCommand):
    help = (
        "Show a HIT template in a browser with its example or an item of your own. "
        "You can answer it; the page then says what would be stored. Nothing is "
        "stored."
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
        try:
            template = hit_templates.get(options["name"])
            preview = Preview(template, _item(options["data"]) or template.example)
        except GenieError as error:
            raise CommandError(error.message) from error
        try:
            server = make_server("127.0.0.1", options["port"], preview)
        except OSError as error:
            raise CommandError(
                f"Port {options['port']} is in use; give another --port."
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
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from error
    if not isinstance(data, dict):
        raise CommandError(f"{path} must contain one item as a JSON object.")
    return data
