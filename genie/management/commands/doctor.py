"""Examine the site: one line for each part, and an exit code."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from genie.upkeep.doctor import OK, PROBLEM, examine


class Command(BaseCommand):
    help = (
        "Examine the site, one line for each part: database, secret key, queue, disk, "
        "mail, every upload by its checksum, money. Exits with 1 if there is a problem."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--quick",
            action="store_true",
            help="leave out what reads all files and payments, or asks other servers",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        verdicts = set()
        for name, finding in examine(slow=not options["quick"]):
            verdicts.add(finding.verdict)
            style = self.style.SUCCESS if finding.verdict == OK else self.style.ERROR
            verdict = style(f"{finding.verdict:8}")
            self.stdout.write(f"{verdict} {name:17} {finding.sentence}")
            for point in finding.points.values():
                self.stdout.write(f"{'':26} - {point}")
        if PROBLEM in verdicts:
            sys.exit(1)
