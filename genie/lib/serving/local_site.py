"""What `genie up` and `genie demo` do alike: prepare the database, start the site, say so."""

from __future__ import annotations

import socket
import sys
import time

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from genie.lib import site_address
from genie.lib.serving.processes import Processes, answers

LOCAL = "127.0.0.1"


class LocalSite(BaseCommand):
    """A command that ends with a running site."""

    def begin(self) -> None:
        self.started = time.monotonic()

    def say(self, text: str) -> None:
        self.stdout.write(f"[{time.monotonic() - self.started:5.1f} s] {text}")
        self.stdout.flush()

    def prepare_database(self) -> None:
        """Create or upgrade the tables; where there is nothing to do, that is cheap."""
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if plan:
            self.say(f"bringing the database up to date: {len(plan)} steps")
        # a first start that was killed may have left tables without the roles of staff
        if plan or not Group.objects.exists():
            call_command("migrate", verbosity=0, interactive=False)

    def start_site(self, processes: Processes, port: int, *, host: str = LOCAL) -> str:
        """Start the queue and the web server; give the address once it answers."""
        address = f"http://{LOCAL if host == '0.0.0.0' else host}:{port}"  # noqa: S104
        # so that links in e-mails, and those that other commands print, lead to this port
        site_address.write_down(settings.VAR_DIR, address)
        self.say("starting the queue and the site")
        processes.start(sys.argv[0], "work", "--quiet")
        processes.start(
            "-m", "gunicorn", "genie.wsgi",
            # `python elsewhere/manage.py up` knows the way, and gunicorn would not
            "--pythonpath", str(settings.BASE_DIR),
            "--bind", f"{host}:{port}",
            # loaded once for both workers: a second less, and half of the memory
            "--preload", "--worker-class", "gthread", "--workers", "2", "--threads", "4",
            "--log-level", "warning",
        )  # fmt: skip
        # asks neither for a host name nor for HTTPS
        if not answers(f"{address}/healthz", meanwhile=processes.all_run):
            raise CommandError("The site did not start; the lines above say why.")
        return address

    def refuse_taken(self, port: int, instead: str, *, host: str = LOCAL) -> None:
        with socket.socket() as probe:
            # a port that was served a moment ago counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                raise CommandError(
                    f"Port {port} is in use; choose another one: {instead}"
                ) from None
