"""Run a demonstration on this machine, with nothing but Python."""

from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from genie.lib.serving.local_site import LocalSite
from genie.lib.serving.processes import Processes, Stopped
from leaderboard.demo import make, passwords, present


class Command(LocalSite):
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
        port = options["port"]
        if not options["no_serve"]:
            self.refuse_taken(port, "genie demo --port 8001, or make demo PORT=8001")
        self.begin()
        self.say(f"Genie's demo, with all of its data in {settings.VAR_DIR}")
        if options["no_serve"]:
            self.prepare_database()
            self._fill()
            return
        processes = Processes()
        try:
            self._serve(processes, port)
        except Stopped:
            self.say("stopping")
        finally:
            processes.stop()

    def _fill(self) -> None:
        if present():
            self.say("keeping the data of an earlier demo (make clean removes it)")
            return
        self.say("creating the demo; no account, service or network is needed")
        make(self.say)
        self.say("the boards are ready; all ratings on them are simulated")

    def _serve(self, processes: Processes, port: int) -> None:
        """Show the site at once; its queue starts when the demo has done its own work."""
        processes.do(self.prepare_database)
        self.load_site()
        address = self.start_site(processes, port)
        # in a fork, so that the others share no connection to the database
        processes.do(partial(self._print_way_in, address))
        processes.do(self._fill)
        self.start_queue(processes)
        self.say("Ctrl-C stops everything.")
        processes.wait()
        raise CommandError("A process of the demo exited unexpectedly. See above.")

    def _print_way_in(self, address: str) -> None:
        lines = ["", f"  Genie runs at {address}/  (admin: {address}/admin/)", ""]
        for account in passwords():
            lines.append(
                f"  {account.role:22} {account.username:8} password {account.password}"
            )
        lines += ["", "  Its boards fill as you watch.", ""]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
