"""Common parts of `genie up` and `genie demo`: prepare the database, start the site."""

import errno
import gc
import socket
import sys
import time
from functools import partial
from importlib import import_module

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.management import call_command, execute_from_command_line
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.template import engines
from django.urls import reverse
from gunicorn.app import wsgiapp
from gunicorn.workers import gthread  # noqa: F401 - the forks share it

from genie.lib import site_address
from genie.lib.errors import error_sentence
from genie.lib.queue import sentinel  # noqa: F401 - the forks share it
from genie.lib.serving.processes import Processes, answers

LOCAL = "127.0.0.1"
_OURS = {"genie", "crowd", "quality", "leaderboard"}


def serve(address: str) -> None:
    sys.argv[1:] = [
        "genie.wsgi", "--bind", address, "--preload", "--worker-class", "gthread",
        "--workers", "2", "--threads", "4", "--log-level", "warning",
        "--no-control-socket",  # a thread would serve it
    ]  # fmt: skip
    wsgiapp.run()


class LocalSite(BaseCommand):
    def begin(self) -> None:
        self.started = time.monotonic()
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        self.stdout.write(f"[{time.monotonic() - self.started:5.1f} s] {text}")
        self.stdout.flush()

    def prepare_database(self) -> None:
        """Create or upgrade tables and static files; fast if they are up to date."""
        executor = MigrationExecutor(connection)
        leaves = executor.loader.graph.leaf_nodes()
        plan = executor.migration_plan(leaves)
        if plan:
            self.say(f"bringing the database up to date: {len(plan)} steps")
            # Before our tables, because references to accounts are rendered at each
            # step.
            executor.migrate([leaf for leaf in leaves if leaf[0] not in _OURS])
        # a first start that was killed may have left tables without the roles of staff
        if plan or not Group.objects.exists():
            call_command("migrate", verbosity=0, interactive=False)
        if settings.PRODUCTION:
            self.say("collecting static files")
            call_command("collectstatic", verbosity=0, interactive=False)

    def load_site(self) -> None:
        """Load and check once what the forks share; the collector skips it."""
        import_module("genie.wsgi")
        self.check()
        # Otherwise each process would index all addresses, and load all tags, for its
        # first page.
        reverse("login")
        engines.all()
        gc.collect()
        gc.freeze()

    def start_site(self, processes: Processes, port: int, *, host: str = LOCAL) -> str:
        address = f"http://{LOCAL if host == '0.0.0.0' else host}:{port}"  # noqa: S104
        # so that links in e-mails, and those that other commands print, have this port
        site_address.write_down(settings.VAR_DIR, address)
        # the forks share settings that were read before
        known = site_address.read(settings.VAR_DIR)
        settings.GENIE = {**settings.GENIE, "SITE_URL": known}
        processes.start(partial(serve, f"{host}:{port}"))
        # needs neither a host name nor HTTPS
        if not answers(f"{address}/healthz", meanwhile=processes.all_run):
            raise CommandError(
                "The site did not start. See the lines above for the reason."
            )
        return address

    def start_queue(self, processes: Processes) -> None:
        processes.start(
            partial(execute_from_command_line, [sys.argv[0], "work", "--quiet"])
        )

    def refuse_taken(self, port: int, instead: str, *, host: str = LOCAL) -> None:
        with socket.socket() as probe:
            # a port that was served a moment ago counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError) as error:
                if getattr(error, "errno", None) != errno.EADDRINUSE:
                    raise CommandError(
                        f"The site cannot use port {port} of {host}: "
                        f"{error_sentence(error)}"
                    ) from error
                raise CommandError(
                    f"Port {port} is in use; choose another one: {instead}"
                ) from None
