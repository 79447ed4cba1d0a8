"""Replace one of the site's keys by a new one."""

from argparse import ArgumentParser
from typing import Any

from genie.lib import keys
from genie.management import RefusingCommand, add_json, refuse_empty_database
from genie.upkeep.rotation import rotate

_EFFECTS = {
    keys.SESSION: "Everyone is signed out, and links in e-mails are invalid.",
    keys.QUEUE: "Waiting jobs are signed with it.",
    keys.PSEUDONYM: "Workers have new pseudonyms, and links and codes new values.",
    keys.REQUESTER: "Requesters need new access keys.",
}


class Command(RefusingCommand):
    help = "Replace a key. Sealed data stays readable."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", choices=keys.VARIABLES)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_empty_database()
        path = rotate(options["key"])
        self.print_results(
            f"The new key is in {path}. {_EFFECTS[options['key']]} Copy the keys to "
            "every other machine of the site, and back them up.",
            options,
            {"key": options["key"], "file": str(path)},
        )
