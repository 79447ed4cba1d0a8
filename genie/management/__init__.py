from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from genie.lib.errors import GenieError


class RefusingCommand(BaseCommand):
    """A command whose refusals are a sentence instead of a traceback."""

    refusals: ClassVar[tuple[type[Exception], ...]] = (GenieError,)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except self.refusals as error:
            raise CommandError(str(error)) from error
