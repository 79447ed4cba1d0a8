"""Import ratings: preview first, then store them as a board."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.management import RefusingCommand, find_row
from leaderboard.files import File, printable
from leaderboard.imports.models import Import
from leaderboard.imports.readers import options as of_files
from leaderboard.imports.readers.columns import Proposal, require_ratings
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import SLUG, read_choices, to_toml
from leaderboard.imports.readers.preview import Preview, open_words
from leaderboard.imports.readers.read import propose
from leaderboard.imports.readers.sources import sources_in
from leaderboard.imports.readers.uploads import short_reason
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


class Command(RefusingCommand):
    help = (
        "Import ratings from files and create a board. The command shows the role of "
        "each column and asks for missing details. --dry-run only checks the files."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", nargs="*", type=Path, help="files, or a folder that contains them"
        )
        what = "slug of a new task (without it, a dry run)"
        parser.add_argument("--task", default="", metavar="SLUG", help=what)
        parser.add_argument(
            "--layout", default="", help="format of the files (default: detected)"
        )
        of_files.add_arguments(parser)
        for name, what in _PAIRS.items():
            parser.add_argument(
                f"--{name}",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help=what,
            )
        parser.add_argument("--title", default="", help="of the task")
        parser.add_argument("--source", default="", help="where the files come from")
        parser.add_argument("--license", default="", help="of the files")
        parser.add_argument("--citation", default="")
        of_files.add_raters(parser)
        parser.add_argument("--owner", default="", help="a member of staff")
        parser.add_argument(
            "--published",
            type=Path,
            metavar="FILE",
            help="published numbers to compare with Genie's",
        )
        parser.add_argument(
            "--part", default="", help="use only ids in --published with this prefix"
        )
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--take-back",
            type=int,
            metavar="NUMBER",
            help="delete the import with this number and everything that depends on it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["take_back"] is not None:
            self._take_back(options["take_back"], options)
        else:
            self._run(options)

    def _run(self, options: dict[str, Any]) -> None:
        if not options["path"]:
            raise CommandError("Name the files.")
        files = [one for path in options["path"] for one in sources_in(path)]
        said = {name: _pairs(name, options[name]) for name in _PAIRS}
        printed = read_expected(options["published"]) if options["published"] else []
        if printed:
            # errors of the list are reported before anything is stored
            published_in(printed, options["part"])
        choices = of_files.choices_of(options)
        found = self._ask_open_questions(
            files, options, choices, _about(options, said, choices)
        )
        judgments = require_ratings(found)
        about = _about(options, said, choices | found.mapping)
        slug = options["task"]
        dry = options["dry_run"] or not slug
        seen, _ = preview_import(judgments, slug=slug, about=about, files=files)
        scales = [(o.criterion, o.scale) for o in seen.scales if o.scale]
        if open_ones := [one for one in scales if not one[1].confirmed]:
            for criterion, scale in open_ones * sys.stdin.isatty():
                usual = f"Scale of {criterion or 'the ratings'}", scale.shown
                said["scale"][criterion or "*"] = self._input(*usual)
            seen, _ = preview_import(judgments, slug=slug, about=about, files=files)
        if not options["json"]:
            self.stdout.write(seen.to_text(), ending="")
        elif dry:
            self.stdout.write(_json(seen, judgments, found))
        if seen.refused:
            raise CommandError(" ".join(seen.refused))
        if dry:
            check(judgments, slug=slug, about=about, files=files)
            sentence = (
                f"{slug} can be imported. This was a dry run. Its title, unless the "
                f"task already exists: {about.title or slug} (--title)."
                if slug
                else "These ratings can be imported with --task SLUG. This was a dry run."
            )
            (self.stderr if options["json"] else self.stdout).write(sentence)
            return
        row = bring_in(
            judgments,
            slug=slug,
            by=owner(options["owner"]),
            about=about,
            files=files,
            tell=self._tell,
        )
        # printed first: the import stays even if computing the numbers fails
        self._done(row, options)
        if printed:
            keep_published(row.task, printed, part=options["part"])

    def _ask_open_questions(
        self,
        files: list[File],
        options: dict[str, Any],
        choices: dict[str, Any],
        about: About,
    ) -> Proposal:
        layout = options["layout"] or (SLUG if options["mapping"] else "")
        found = propose(files, layout=layout, choices=choices)
        if (asked := _open(found)) and not sys.stdin.isatty():
            raise CommandError(
                _refusal(asked, found, _open_scales(found, about, files))
            )
        if found.columns and not options["json"]:
            self.stdout.write(_list_columns(found))
        while left := _open(found):
            try:
                answer = {left[0].name: self._ask(left[0], found, choices)}
                found = propose(files, layout=layout, choices=choices | answer)
                choices |= answer
            except GenieError as error:
                self.stderr.write(error.message)
        if asked:
            again = {k: v for k, v in found.mapping.items() if k != "lost"}
            self.stderr.write("To reuse these answers, save this for --mapping:\n")
            self.stderr.write(to_toml(again))
        return found

    def _ask(self, one: Choice, found: Proposal, choices: dict[str, Any]) -> Any:
        self.stderr.write(one.question)
        if one.name == "words" and found.judgments is not None:
            left = open_words(found.judgments.judged)
            words = one.options or [other["word"] for other in left]
            usual = read_choices({"words": one.found}).words["*"]
            said: dict[str, Any] = dict(
                read_choices({"words": choices.get("words")}).words
            )
            worth = {w: self._input(w, str(usual.get(w.lower(), ""))) for w in words}
            said |= said.pop("*")
            return said | dict(read_choices({"words": worth}).words["*"])
        for number, option in enumerate(one.options, 1):
            self.stderr.write(f"  {number} {one_line(option)}")
        answer = self._input("Number or text", one.found)
        options = {str(n): option for n, option in enumerate(one.options, 1)}
        picked = [options.get(part.strip(), "") for part in answer.split(",")]
        if one.name == "lost" and "yes" not in (answer, *picked):
            raise CommandError("The files were not imported.")
        return answer if not all(picked) else picked if picked[1:] else picked[0]

    def _input(self, what: str, usual: str) -> str:
        hint = f" [{usual}]" if usual else ""
        self.stderr.write(f"{printable(what)}{hint}: ", ending="")
        if not (answer := sys.stdin.readline()):
            raise CommandError(
                "The files were not imported, because a question has no answer."
            )
        return answer.strip() or usual

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
            f"Import {row.pk}: /tasks/{row.task.slug}/ has its board. Missing "
            f"details: {', '.join(unknown)}. Add them with --known NAME=TEXT."
        )

    def _take_back(self, pk: int, options: dict[str, Any]) -> None:
        row = find_row(Import.objects.select_related("task"), "import", pk=pk)
        slug, remains = row.task.slug, take_back(row, self._tell)
        left = "keeps its other imports" if remains else "is gone"
        text = f"Import {pk} was removed. The task {slug} {left}."
        found = {"import": pk, "task": slug, "task_remains": bool(remains)}
        self.stdout.write(json.dumps(found) if options["json"] else text)


_PAIRS = {
    "known": f"details about {', '.join(ASKED)}",
    "question": "the question people saw for a criterion",
    "scale": "lowest and highest possible answer, such as overall='1 to 7' (without a "
    "name, for every criterion)",
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


def _list_columns(found: Proposal) -> str:
    lines = ["Columns:"] if found.columns else []
    for one in found.columns:
        n = f" ({len(one.fields):,} columns)" if len(one.fields) > 1 else ""
        examples = f"; such as {', '.join(map(printable, one.examples))}" * bool(
            one.examples
        )
        lines.append(
            f"  {one_line(one.name)}{n}: {one.role}; {one_line(short_reason(one))}{examples}"
        )
    return "\n".join(lines)


def _open(found: Proposal) -> list[Choice]:
    return [one for one in found.questions if one.needed and found.columns]


def _open_scales(found: Proposal, about: About, files: list[File]) -> tuple[str, ...]:
    """Return further reasons against an import, so that scales are asked at once."""
    made = found.judgments
    return (
        preview_import(made, slug="", about=about, files=files)[0].refused
        if made
        else ()
    )


def _refusal(asked: Sequence[Choice], found: Proposal, more: Sequence[str]) -> str:
    lines = []
    for one in asked:
        options = ", ".join(map(one_line, one.options[:60])) or "COLUMN"
        lines.append(one_line(one.question, 1_000))
        if one.name != "words":
            lines.append(f"  --choose {one.name}=… with one of: {options}")
    return "\n".join([*lines, *more, _list_columns(found)])


def _about(
    options: dict[str, Any], said: dict[str, dict[str, str]], choices: dict[str, Any]
) -> About:
    return About(
        title=options["title"],
        source=options["source"],
        licence=options["license"],
        citation=options["citation"],
        raters=options["raters"],
        known=said["known"],
        choices=choices,
        questions=said["question"],
        scales=said["scale"],
    )


def _json(seen: Preview, judgments: Judgments, found: Proposal) -> str:
    problems = [{**vars(one), "text": str(one)} for one in judgments.problems[:_EVERY]]
    more = {
        "problems": problems,
        "columns": [{**vars(one), "fields": [*one.fields]} for one in found.columns],
        "mapping": found.mapping,
    }
    return json.dumps(seen.to_dict() | more, ensure_ascii=False)
