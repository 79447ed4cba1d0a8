"""From files of outputs to a running evaluation, in one command."""

import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse
from django.utils.text import slugify

from crowd.hit_templates.form import MOST_ON_A_PAGE
from crowd.platforms.base import all_platforms
from crowd.workers.services.invitations import study_links
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.management import STREAM, RefusingCommand, add_json, on_disk
from leaderboard.files import read_file
from leaderboard.management.owner import owner
from leaderboard.metrics.base import all_metrics
from leaderboard.studio.services import keep, look, make, preview, start
from leaderboard.tasks.drafts.ask import KINDS, OVERALL, Ask, offered_designs
from leaderboard.tasks.intake.guess import ONLY_NUMBERS
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.intake.roles import IGNORED, Said

HINTS = {
    "tests-stand-out": " Use --despite WHY, or omit test questions with --tests 0.",
    "release-changed": " Use a different name for the new files.",
    "no-system-column": " Use --system COLUMN.",
    ONLY_NUMBERS: " (--system COLUMN takes it as a system's outputs)",
    "no-input-column": " Use --input COLUMN.",
    look.NO_QUESTION: " Use --ask TEXT.",
    look.NO_LANGUAGE.format("inputs"): " Use --source-language CODE.",
    look.NO_LANGUAGE.format("outputs"): " Use --target-language CODE.",
}


class Command(RefusingCommand):
    help = (
        "Create a task from files of outputs: read them, load the task, submit each "
        "system, and show the price. With --approve, confirm the price and start. If "
        "the command is interrupted, run it again to continue."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "name", help="slug of the task, such as my-summaries, or a file of outputs"
        )
        parser.add_argument(
            "--outputs",
            nargs="+",
            default=[],
            metavar="FILE",
            help="CSV, TSV, JSON, JSONL, XLSX or TXT files, with a column or a file "
            "for each system",
        )
        _about_files(parser)
        _about_questions(parser)
        _about_people(parser)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        printed = STREAM in (options["json"], options["preview"])
        self.say = (self.stderr if printed else self.stdout).write
        # pathlib would refuse a name that is too long for a file
        if os.path.isfile(file := Path(options["name"])):  # noqa: PTH113
            options["outputs"] = [options["name"], *options["outputs"]]
            options["name"] = slugify(file.stem).replace("_", "-")
        options["workers"] = options["workers"] or _who_rates()
        material = self._material(options)
        ask = _ask(options)
        drafted = look.draft_of(material, ask)
        if drafted.problems or drafted.bundle is None:
            hinted = [f"{one}{HINTS.get(one, '')}" for one in drafted.problems]
            _refuse("The task cannot be created", hinted)
        self._say_asked(drafted.bundle.document, ask)
        if options["save"]:
            home = drafted.bundle.write(options["save"])
            self.say(f"Written to {home}.")
        if options["preview"]:
            page = preview.first_page(drafted.bundle, material)
            self.write_file(options["preview"], page)
        if options["dry_run"]:
            self.say("The task was not loaded (--dry-run).")
            self.print_results("", options, {"task": drafted.bundle.slug})
            return
        by = owner(options["owner"])
        made = make.make(
            drafted.bundle, material.systems, owner=by, by_link=ask.volunteers
        )
        made = make.measure(made)
        n, done = len(made.submissions), "Loaded" if made.created else "Found"
        self.say(
            f"{done} {made.task.slug}: {made.task.n_instances:,} inputs, {n} systems."
        )
        found = {
            "task": made.task.slug,
            "n_instances": made.task.n_instances,
            "submissions": [one.pk for one in made.submissions],
            **self._start(made, ask, by, options),
        }
        self.print_results("", options, found)

    def refusal(self, error: GenieError) -> str:
        return super().refusal(error) + HINTS.get(error.code, "")

    def _material(self, options: dict[str, Any]) -> Material:
        paths = {Path(path).name: path for path in options["outputs"]}
        if len(paths) < len(options["outputs"]):
            paths = {path: path for path in options["outputs"]}
        opened = look.open_files(paths)
        try:
            files = look.look_at(opened, _read_options(options))
        finally:
            for _, stream in opened:
                stream.close()
        for use in files.uses:
            name = f" “{use.name}”" if use.name else ""
            shown = "" if use.format == "text" else f", shown as {use.format}"
            why = (use.why or use.role) + HINTS.get(use.why, "")
            line = f"{use.file}: {use.column}: {why}{name}{shown}"
            if use.role != IGNORED or len(files.uses) < 30:
                self.say(f"  {one_line(line, 200)}")
        if files.problems or files.material is None:
            _refuse(
                "The files cannot be used",
                [f"{one}{HINTS.get(one.code, '')}" for one in files.problems],
            )
        return files.material

    def _say_asked(self, document: Any, ask: Ask) -> None:
        table = document.get(ask.way.table())
        self.say(f"Questions to raters ({ask.way.slug}, {ask.way.scales[0]}):")
        for name, question in table["criteria"].items():
            self.say(f"  {name}: {one_line(question, 200)}")
        human = document["human"]
        pay = (
            f"${human['reward_cents'] / 100:.2f}" if human["reward_cents"] else "unpaid"
        )
        self.say(
            f"  about {human['expected_seconds']} seconds "
            f"{'per page' if ask.items_per_page == 1 else 'per output or pair'}, "
            f"{pay}; {human['sample_size']:,} inputs per system; from "
            f"{document['source_language']} to {document['target_language']}"
        )

    def _start(
        self, made: make.Made, ask: Ask, owner: Any, options: dict[str, Any]
    ) -> dict[str, Any]:
        start.request(made.task, made.submissions, by=owner)
        planned = start.plan(made.task, made.submissions)
        site = str(settings.GENIE["SITE_URL"]).rstrip("/")
        found = {"at_most_cents": planned.cents, "n_hits": planned.n_hits}
        if planned.waiting:
            price = f"It costs up to ${planned.cents / 100:,.2f}: "
            self.say(f"{price if planned.cents else ''}{_to_judge(planned, ask)}.")
            if not self._confirm(planned, options):
                self.say(
                    "Ready for approval. The same command with --approve starts it, or "
                    f"approve on {site}{reverse('admin:index')}."
                )
                return found | {"started": False}
            n = start.approve(
                planned,
                by=owner,
                at_most_cents=planned.cents,
                despite=options["despite"],
            )
            start.send_out()
            self.say(f"Approved and started: {n}.")
        return found | self._say_where(made, owner, site, options)

    def _confirm(self, planned: start.Plan, options: dict[str, Any]) -> bool:
        if options["yes_up_to"] is not None:
            cents = round(100 * options["yes_up_to"])
            if planned.cents > cents:
                raise CommandError(
                    f"It costs more than ${cents / 100:,.2f}, so it was not approved."
                )
            return True
        if not options["approve"] or not planned.cents:  # nothing to confirm
            return bool(options["approve"])
        try:
            # standard output is for results
            sys.stderr.write(f"Approve up to ${planned.cents / 100:,.2f}? [y/N] ")
            answer = input()
        except EOFError:
            raise CommandError(
                "The price cannot be confirmed here. Set a limit with --yes-up-to "
                "DOLLARS."
            ) from None
        return answer.strip().lower() in {"y", "yes"}

    def _say_where(
        self, made: make.Made, owner: Any, site: str, options: dict[str, Any]
    ) -> dict[str, Any]:
        links = []
        if made.task.by_colleagues:
            if not study_links(made.task.slug):
                start.invite(
                    made.task,
                    by=owner,
                    names=options["people"],
                    places=options["places"],
                )
            self.say("Raters work here:")
            for row, token in study_links(made.task.slug):
                link = f"{site}{reverse('work:invitation', args=[token])}"
                links.append({"for": row.note, "address": link})
                self.say(f"  {row.note or 'all'}: {link}")
        elif options["workers"] in keep.OWN_PEOPLE:
            self.say(f"Workers rate here: {site}{reverse('work:home')}")
        board = reverse("leaderboard:board", args=[made.task.slug])
        self.say(f"Results: {site}{board}")
        return {"started": True, "links": links, "board": f"{site}{board}"}


def dollars(text: str) -> float:
    if not 0 <= (amount := float(text)) < 10**9:
        raise ValueError(text)
    return amount


def _who_rates() -> str:
    if not sys.stdin.isatty():
        return keep.LINK
    asked = "Who rates? 1 my colleagues, 2 my own pool, 3 Prolific or another panel: "
    sys.stderr.write(asked)
    return {"2": keep.INVITED, "3": "prolific"}.get(input().strip(), keep.LINK)


def _to_judge(planned: start.Plan, ask: Ask) -> str:
    n, table = len(planned.waiting), ask.way.table()
    alone = "campaign" if planned.cents else "system"
    what = {"human": alone, "joint": "joint evaluation"}.get(table, table)
    where = f"in {n} {what}{'' if n == 1 else 's'}"
    if ask.items_per_page == 1:
        return f"{planned.n_hits:,} pages to rate {where}"
    return (
        f"{planned.n_hits:,} outputs or pairs to rate, {ask.items_per_page} per page, "
        f"{where}"
    )


def _about_files(parser: CommandParser) -> None:
    files = parser.add_argument_group("contents of the files, if detected wrong")
    for name, text in (
        ("--input", "COLUMN or COLUMN=LABEL of the inputs"),
        ("--reference", "COLUMN of human references"),
        ("--system", "COLUMN or FILE with a system's outputs, and =NAME for its name"),
        ("--ignore", "COLUMN to leave out"),
        (
            "--show",
            "COLUMN=FORMAT (text, markdown, code, conversation); for outputs, "
            "output=FORMAT",
        ),
    ):
        files.add_argument(name, action="append", default=[], help=text)
    files.add_argument("--id", default="", help="COLUMN with the ids of the rows")
    files.add_argument("--names", default="", help="COLUMN with the system's name")
    files.add_argument("--hide-references", action="store_true")
    for name in ("--source-language", "--target-language"):
        files.add_argument(name, default="", help="en, de, ... (default: detected)")


def _about_questions(parser: CommandParser) -> None:
    asked = parser.add_argument_group("questions to raters")
    asked.add_argument("--ask", default="", help="the question or statement")
    asked.add_argument(
        "--ties", action="store_true", help="two systems may be equally good"
    )
    asked.add_argument(
        "--together",
        action="store_true",
        help="ask for magnitudes of all criteria on one page",
    )
    asked.add_argument(
        "--criterion", action="append", default=[], metavar="NAME=WORDS",
        help="one of several criteria (the first ranks the systems)",
    )  # fmt: skip
    asked.add_argument("--design", choices=[*offered_designs()], default="")
    asked.add_argument(
        "--kind", default="", help=f"kind of task; known: {', '.join(KINDS)}"
    )
    asked.add_argument(
        "--template", default="", help="name of a HIT template (can be your own)"
    )
    asked.add_argument(
        "--metric",
        action="append",
        default=[],
        help="instead of the standard instructions",
    )
    asked.add_argument("--title", default="")
    asked.add_argument("--summary", default="", help="what a system has to do")
    asked.add_argument(
        "--blind", action="append", default=[], metavar="CRITERION",
        help="rated without the input",
    )  # fmt: skip
    asked.add_argument(
        "--checkbox", action="append", default=[], choices=["added", "missed"]
    )
    asked.add_argument("--instructions", type=Path, help="a Markdown file")


def _about_people(parser: CommandParser) -> None:
    people = parser.add_argument_group("raters, amount of work and pay")
    people.add_argument(
        "--workers",
        choices=[keep.LINK, keep.INVITED, *sorted({*all_platforms()} - {"selfhosted"})],
        help="link (default, for colleagues), invited (your own pool), or a platform "
            "(prolific, panel, mturk)",
    )  # fmt: skip
    people.add_argument(
        "--people", default="",
        help="names for personal links, such as Ann,Ben,Cleo, or the number of links",
    )  # fmt: skip
    people.add_argument(
        "--places",
        type=int,
        default=20,
        help="number of people for one shared link, without --people",
    )
    people.add_argument("--items", type=int, default=0, help="inputs rated per system")
    people.add_argument("--ratings", type=int, default=1, help="ratings of each input")
    people.add_argument("--reward", type=int, help="cents per output or pair")
    people.add_argument(
        "--per-page", type=int, default=1, choices=range(1, MOST_ON_A_PAGE + 1),
        help="outputs or pairs per page on this site",
    )  # fmt: skip
    people.add_argument(
        "--by-document", action="store_true",
        help="show parts of one document on a page (ids such as news-12.3)",
    )  # fmt: skip
    people.add_argument("--tests", type=int, help="hidden test questions in percent")
    people.add_argument("--owner", default="", help="user name of a staff member")
    people.add_argument(
        "--approve", action="store_true", help="start after you confirm the price"
    )
    people.add_argument(
        "--yes-up-to", type=dollars, metavar="DOLLARS",
        help="approve without asking if it costs at most this much",
    )  # fmt: skip
    people.add_argument(
        "--despite",
        default="",
        help="reason to start although test questions stand out",
    )
    people.add_argument(
        "--save", type=on_disk, metavar="DIR", help="folder or zip file for the bundle"
    )
    people.add_argument(
        "--preview", type=Path, metavar="FILE", help="file for the first page as HTML"
    )
    people.add_argument("--dry-run", action="store_true", help="keep nothing")


def _read_options(options: dict[str, Any]) -> Said:
    inputs = dict(map(_halves, options["input"]))
    return Said(
        id=options["id"],
        inputs=list(inputs),
        labels={column: label for column, label in inputs.items() if label},
        references=options["reference"],
        ignored=options["ignore"],
        systems=dict(map(_halves, options["system"])),
        names=options["names"],
        formats=dict(map(_halves, options["show"])),
    )


def _halves(text: str) -> tuple[str, str]:
    left, _, right = text.partition("=")
    return left, right


def _ask(options: dict[str, Any]) -> Ask:
    criteria = dict(map(_halves, options["criterion"]))
    if options["ask"]:
        criteria = {OVERALL: options["ask"], **criteria}
    people = options["workers"] in keep.OWN_PEOPLE
    free = options["workers"] == keep.LINK and not options["reward"]
    path = options["instructions"]
    if unknown := sorted({*options["metric"]} - {*all_metrics()}):
        raise CommandError(
            f"There is no metric {unknown[0]!r}; there are {', '.join(all_metrics())}."
        )
    return Ask(
        slug=options["name"],
        title=options["title"] or options["name"].replace("-", " ").capitalize(),
        criteria=criteria,
        design=options["design"],
        kind=options["kind"],
        summary=options["summary"],
        platform="selfhosted" if people else options["workers"],
        volunteers=free,
        consent=keep.usual_consent(volunteers=free),
        n_items=options["items"],
        ratings=options["ratings"],
        reward_cents=options["reward"],
        tests_percent=options["tests"],
        blind=options["blind"],
        checkboxes=options["checkbox"],
        allow_tie=options["ties"],
        together=options["together"],
        instructions=read_file(path) if path else "",
        source_language=options["source_language"],
        target_language=options["target_language"],
        hidden_references=options["hide_references"],
        template=options["template"],
        metrics=options["metric"],
        items_per_page=options["per_page"],
        by_document=options["by_document"],
    )


def _refuse(what: str, problems: list[str]) -> NoReturn:
    listed = "\n".join(f"  {one_line(problem, 600)}" for problem in problems)
    raise CommandError(f"{what}, so the task was not loaded.\n{listed}")
