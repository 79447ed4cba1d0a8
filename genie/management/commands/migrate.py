from typing import Any

from django.conf import settings
from django.core.management.commands import migrate


class Command(migrate.Command):
    help = "Upgrade the database."

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["plan"] and not options["check_unapplied"]:
            settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        super().handle(*args, **options)
