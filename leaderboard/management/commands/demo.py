"""Show Genie at work on this machine, with nothing but Python."""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.demo import content, people
from leaderboard.demo.processes import Processes, Stopped, answers


class Command(BaseCommand):
    help = (
        "Set up four small tasks, run them end to end with simulated "
        "annotators, and keep the site, the queue and the admin running until "
        "Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--no-serve", action="store_true", help="only create the demo data"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo cannot run with production settings.")
        self.started = time.monotonic()
        port = options["port"]
        if not options["no_serve"]:
            self._refuse_taken(port)
        processes = Processes()
        try:
            self._make()
            if not options["no_serve"]:
                self._serve(processes, port)
        except Stopped:
            self.say("stopping")
        finally:
            processes.stop()

    def _make(self) -> None:
        self.say(
            "preparing the database in var/ (about half a minute on the first start)"
        )
        call_command("migrate", verbosity=0, interactive=False)
        if content.present():
            self.say("keeping the data of an earlier demo (make clean removes it)")
            return
        self.say("creating the demo; no account, service or network is needed")
        try:
            content.make(self.say)
        except GenieError as error:
            raise CommandError(error.message) from error
        self.say("the boards are ready; all ratings on them are simulated")

    def _serve(self, processes: Processes, port: int) -> None:
        address = f"http://127.0.0.1:{port}"
        # so that links in e-mails lead to this port
        os.environ.setdefault("GENIE_SITE_URL", address)
        self.say("starting the queue and the site")
        processes.start(sys.argv[0], "work", "--quiet")
        processes.start(
            "-m", "gunicorn", "genie.wsgi",
            "--bind", f"127.0.0.1:{port}",
            "--worker-class", "gthread", "--workers", "2", "--threads", "4",
            "--log-level", "warning",
        )  # fmt: skip
        if not answers(f"{address}/"):
            raise CommandError("The site did not start; the lines above say why.")
        self._print_way_in(address)
        processes.wait()
        raise CommandError("A process of the demo exited unexpectedly; see above.")

    def _print_way_in(self, address: str) -> None:
        lines = ["", f"  Genie runs at {address}/  (admin: {address}/admin/)", ""]
        for account in people.new_passwords():
            lines.append(
                f"  {account.role:22} {account.username:8} password {account.password}"
            )
        lines += ["", "  Ctrl-C stops everything.", ""]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _refuse_taken(self, port: int) -> None:
        with socket.socket() as probe:
            # a port that was served a moment ago counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                raise CommandError(
                    f"Port {port} is in use; choose another one: make demo PORT=8001"
                ) from None

    def say(self, text: str) -> None:
        self.stdout.write(f"[{time.monotonic() - self.started:5.1f} s] {text}")
        self.stdout.flush()
