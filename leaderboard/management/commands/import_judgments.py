"""Import ratings: preview first, then store them as a board."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.imports.models import Import
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.preview import Preview
from leaderboard.imports.readers.read import guess, read
from leaderboard.imports.readers.sources import Source, sources_in
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in, check
from leaderboard.imports.services.plan import preview_import
from leaderboard.imports.services.take_back import take_back
from leaderboard.management.owner import owner
from leaderboard.papers.figures import read_expected
from leaderboard.papers.task_figures.keep import keep_published, published_in
from leaderboard.tasks.selectors import ASKED

# Maximum number of printed problems.
_EVERY = 10_000


class Command(BaseCommand):
    help = (
        "Read judgments that were made elsewhere and give them a board: WMT, Appraise, "
        "Pearmut, Potato, Label Studio, battles, wide and long tables. --dry-run says what "
        "would be stored and every problem by its row, and stores nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", nargs="*", type=Path, help="files, or a folder with all of them"
        )
        parser.add_argument("--task", default="", metavar="SLUG", help="a new name")
        parser.add_argument("--layout", default="", help="otherwise it is guessed")
        for name, what in _PAIRS.items():
            parser.add_argument(
                f"--{name}",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help=what,
            )
        parser.add_argument("--title", default="", help="of the task")
        parser.add_argument("--source", default="", help="where the files are from")
        parser.add_argument("--licence", default="", help="of the files")
        parser.add_argument("--citation", default="")
        parser.add_argument("--owner", default="", help="a member of staff")
        parser.add_argument(
            "--published",
            type=Path,
            metavar="FILE",
            help="numbers that were printed of them, to stand beside ours",
        )
        parser.add_argument(
            "--part", default="", help="of --published only ids that begin so"
        )
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--take-back",
            type=int,
            metavar="NUMBER",
            help="delete an import and all that hangs on it, by its number",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["take_back"] is not None:
                self._take_back(options["take_back"])
            else:
                self._run(options)
        except GenieError as error:
            raise CommandError(one_line(error.message, 4_000)) from error

    def _run(self, options: dict[str, Any]) -> None:
        if not options["path"] or not options["task"]:
            raise CommandError("Name the files, and the task with --task SLUG.")
        files = [one for path in options["path"] for one in sources_in(path)]
        said = {name: _pairs(name, options[name]) for name in _PAIRS}
        printed = read_expected(options["published"]) if options["published"] else []
        if printed:
            # errors of the list are reported before anything is stored
            published_in(printed, options["part"])
        layout = options["layout"] or self._guessed(files)
        judgments = read(files, layout=layout, choices=said["choose"])
        about = _about(options, said)
        seen, _ = preview_import(
            judgments, slug=options["task"], about=about, files=files
        )
        dry = options["dry_run"]
        if not options["json"]:
            self.stdout.write(seen.to_text(), ending="")
        elif dry:
            self.stdout.write(_json(seen, judgments))
        if seen.refused:
            raise CommandError(" ".join(seen.refused))
        if dry:
            check(judgments, slug=options["task"], about=about, files=files)
            title = about.title or options["task"]
            self._say(
                f"{options['task']} could be imported; nothing was stored. Its title, "
                f"unless the task is there already: {title} (--title).",
                options,
            )
            return
        row = bring_in(
            judgments,
            slug=options["task"],
            by=owner(options["owner"]),
            about=about,
            files=files,
            tell=self._tell,
        )
        # printed first: the import stays even if computing the numbers fails
        self._done(row, options)
        if printed:
            keep_published(row.task, printed, part=options["part"])

    def _guessed(self, files: list[Source]) -> str:
        looks = guess(files)
        for slug, look in list(looks.items())[:1]:
            self.stderr.write(f"These files look like {slug}: {look.because}.")
            return slug
        return ""

    def _tell(self, what: str, done: int, of: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{what}: {done:,} of {of:,}", ending="")

    def _done(self, row: Import, options: dict[str, Any]) -> None:
        if options["json"]:
            found = {"import": row.pk, "task": row.task.slug, "roles": row.roles}
            self.stdout.write(json.dumps(found))
            return
        unknown = [name for name in ASKED if name not in row.known]
        self.stdout.write(
            f"Import {row.pk}: /tasks/{row.task.slug}/ has its board. Nothing is known of "
            f"{', '.join(unknown)}; --known NAME=WORDS says it."
        )

    def _say(self, sentence: str, options: dict[str, Any]) -> None:
        (self.stderr if options["json"] else self.stdout).write(sentence)

    def _take_back(self, pk: int) -> None:
        row = Import.objects.select_related("task").filter(pk=pk).first()
        if row is None:
            raise CommandError(f"There is no import {pk}.")
        slug, remains = row.task.slug, take_back(row, self._tell)
        left = "keeps what else was imported" if remains else "is gone"
        self.stdout.write(f"Import {pk} is taken back; the task {slug} {left}.")


_PAIRS = {
    "choose": "what the layout cannot know, such as system=COLUMN; may be repeated",
    "known": f"what is known of {', '.join(ASKED)}",
    "question": "what people read for a criterion",
    "scale": "the lowest and highest possible answer, such as overall='1 to 7'; without "
    "a name, of every criterion",
}


def _pairs(name: str, given: list[str]) -> dict[str, str]:
    pairs = {}
    for one in given:
        key, equals, value = (
            one.rpartition("=") if name == "scale" else one.partition("=")
        )
        if name == "scale" and not equals:
            key, equals = "*", "="
        if not equals:
            raise CommandError(f"--{name} takes NAME=VALUE, not {one!r}.")
        pairs[key] = value
    return pairs


def _about(options: dict[str, Any], said: dict[str, dict[str, str]]) -> About:
    return About(
        title=options["title"],
        source=options["source"],
        licence=options["licence"],
        citation=options["citation"],
        known=said["known"],
        choices=said["choose"],
        questions=said["question"],
        scales=said["scale"],
    )


def _json(seen: Preview, judgments: Judgments) -> str:
    problems = [{**vars(one), "text": str(one)} for one in judgments.problems[:_EVERY]]
    return json.dumps(seen.to_dict() | {"problems": problems}, ensure_ascii=False)
