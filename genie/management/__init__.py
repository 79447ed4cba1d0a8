import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.models import QuerySet

from genie.lib.errors import GenieError, error_sentence
from genie.lib.logs import one_line

STREAM = Path("-")


class RefusingCommand(BaseCommand):
    """A command whose refusals are a sentence instead of a traceback."""

    refusals: ClassVar[tuple[type[Exception], ...]] = (GenieError,)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except self.refusals as error:
            raise CommandError(self.refusal(error)) from error

    def refusal(self, error: Any) -> str:
        return one_line(error_sentence(error), 4_000)

    def print_results(
        self,
        text: str,
        options: dict[str, Any],
        content: object,
        **files: Callable[[], str],
    ) -> None:
        """Print the text, or the result requested with -. Write the other files."""
        files["json"] = lambda: (
            json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )
        wanted = {name: options[name] for name in files if options[name]}
        if text and STREAM not in wanted.values():
            self.stdout.write(text)
        for name, path in wanted.items():
            self.write_file(path, files[name]())

    def write_file(self, path: Path, text: str) -> None:
        if path == STREAM:
            self.stdout.write(text, ending="")
            return
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        self.stderr.write(f"Wrote {path}.")


def find_row(rows: QuerySet[Any], what: str, **key: Any) -> Any:
    """Return the row with a key; raise CommandError if there is none."""
    if (row := rows.filter(**key).first()) is None:
        raise CommandError(f"There is no {what} {next(iter(key.values()))!r}.")
    return row


def on_disk(text: str) -> Path:
    """Return an argument's path; raise ArgumentTypeError for a stream."""
    if (path := Path(text)) == STREAM:
        raise ArgumentTypeError(
            "this cannot be read from standard input or written to standard output; "
            "name a file or folder instead of -"
        )
    return path


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=STREAM,
        metavar="OUT",
        help="write the results as JSON to OUT, or print them without OUT",
    )


def refuse_empty_database() -> None:
    try:
        tables = connection.introspection.table_names()
    except OperationalError as error:
        if "unable to open" in str(error):  # as no file is there
            raise
        return  # examined like everything else
    if not tables:
        raise CommandError("There is no site here yet. Run `genie up` to create one.")
