"""Make a site in this folder, or start the one that is here, and keep it running."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from genie.accounts import first_staff
from genie.lib.serving.local_site import LOCAL, LocalSite
from genie.lib.serving.processes import Processes, Stopped
from genie.lib.site_address import OWN_MACHINE


class Command(LocalSite):
    help = (
        "Start the site in the folder var/ (or GENIE_VAR), and create it if there is "
        "none. This creates or upgrades the database and runs the web server and the "
        "queue until Ctrl-C or SIGTERM."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--host",
            default=LOCAL,
            help="address to listen on (0.0.0.0 admits other machines, whose requests "
            "must use a name in GENIE_HOSTS)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        self.refuse_taken(port, f"genie up --port {port + 1}", host=host)
        self.begin()
        processes = Processes()
        try:
            self.say(f"Genie, with all of its data in {settings.VAR_DIR}")
            processes.do(self.prepare_database)
            self.load_site()
            address = self.start_site(processes, port, host=host)
            self.start_queue(processes)
            self._print_way_in(address, is_open=host not in OWN_MACHINE)
            processes.wait()
            raise CommandError("A process of the site exited unexpectedly. See above.")
        except Stopped:
            self.say("stopping")
        finally:
            processes.stop()

    def _print_way_in(self, address: str, *, is_open: bool) -> None:
        self.say("ready")
        lines = ["", f"  Genie runs at {address}/", ""]
        if first_staff.is_wanted():
            lines += [
                "  Start here: create the first staff account within a day at",
                f"  {address}{first_staff.way()}",
                "",
            ]
        if is_open:
            lines += [
                "  Other machines can connect. Put a proxy that buffers uploads in front, or a",
                "  few slow senders can keep the site busy: docs/install.md.",
                "",
            ]
        lines += ["  Ctrl-C stops everything.", ""]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
