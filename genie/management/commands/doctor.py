"""Examine the site: one line for each part, and an exit code."""

import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from genie.management import RefusingCommand, add_json, refuse_empty_database
from genie.upkeep.doctor import OK, PROBLEM, examine


class Command(RefusingCommand):
    help = (
        "Check the site and print one line for each part: database, keys, "
        "queue, disk, mail, uploads (by checksum), money. The exit code is 1 if there "
        "is a problem."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--quick",
            action="store_true",
            help="skip checks that read all files and payments or contact other servers",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_empty_database()
        found = {}
        for name, finding in examine(slow=not options["quick"]):
            found[name] = finding
            if options["json"]:
                continue
            style = self.style.SUCCESS if finding.verdict == OK else self.style.ERROR
            verdict = style(f"{finding.verdict:8}")
            self.stdout.write(f"{verdict} {name:17} {finding.sentence}")
            for point in finding.points.values():
                self.stdout.write(f"{'':26} - {point}")
        if options["json"]:
            content = {name: asdict(one) for name, one in found.items()}
            self.print_results("", options, content)
        if PROBLEM in {one.verdict for one in found.values()}:
            sys.exit(1)
