"""Recompute the published tables from the published data, with a verdict."""

import json
import resource
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.management import STREAM, add_json, find_row, on_disk
from genie_research.management import StudyCommand
from genie_research.papers.plot import table_plot
from genie_research.papers.report import Done, closing_text, summary, table_text
from genie_research.papers.table import Table, Workbench, all_tables
from genie_research.papers.task_table import TaskTable
from leaderboard.papers.figures import Cell, Verdict, read_expected
from leaderboard.papers.task_figures.keep import forget_published, keep_published
from leaderboard.tasks.models import Task

# Of cells that fail; the text above explains the others.
_MOST_NAMED = 20


class Command(StudyCommand):
    help = (
        "Recompute published tables, of Genie, RankME and Dynamic Human Evaluation, of "
        "folders of published judgments (WMT22, E2E, AltTest, ESA, WMT24) or of a task "
        "of this site, and print, for each cell, the paper's value, ours, the tolerance "
        "and the verdict. Exit code 1 if a number that must hold does not, or if one of "
        "a list (--expected, --task) has no counterpart here and no reason why."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        tables = all_tables()
        parser.add_argument(
            "tables",
            nargs="*",
            metavar="TABLE",
            help=f"{', '.join(tables)} (default: all)",
        )
        parser.add_argument(
            "--data",
            type=on_disk,
            help="folder with dynamic/, rankme/, wmt21-de-en/, wmt22-da/, ...",
        )
        parser.add_argument(
            "--task",
            metavar="SLUG",
            help="instead of tables: a task of this site with published numbers",
        )
        parser.add_argument(
            "--expected",
            type=Path,
            metavar="FILE",
            help="list of printed numbers (JSON or CSV: id, value, tolerance, source, "
            "note) for a folder of judgments or a task",
        )
        parser.add_argument(
            "--part",
            default="",
            help="prefix of this task's ids in a list for several tasks",
        )
        parser.add_argument(
            "--published",
            type=Path,
            metavar="FILE",
            help="with --task: store such a list with the task, publicly, instead of "
            "its earlier numbers of the same tables",
        )
        parser.add_argument(
            "--printed-in",
            default="",
            help="where the numbers in --published were printed",
        )
        parser.add_argument(
            "--figures",
            default="",
            help="set of numbers to compare them with: da, pages, ...",
        )
        parser.add_argument(
            "--why", default="", help="reason why some cannot be reproduced"
        )
        parser.add_argument(
            "--forget",
            action="store_true",
            help="with --task: delete its stored numbers",
        )
        parser.add_argument(
            "--runs",
            type=int,
            help="number of simulation runs (default: each table's own number)",
        )
        parser.add_argument("--seed", type=int, default=0)
        add_json(parser)
        parser.add_argument(
            "--plots", type=on_disk, help="folder for one SVG per table"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        bench = self._bench(options)
        to_stream = options["json"] == STREAM
        self.say = self.stderr.write if to_stream else self.stdout.write
        chosen = (
            _of_task(options) if options["task"] else _choose_tables(options["tables"])
        )
        done: list[tuple[Table, Done]] = []
        for index, table in enumerate(chosen, 1):
            start = time.monotonic()
            if options["verbosity"]:
                self.stderr.write(f"{index} of {len(chosen)}: {table.slug} ...")
            cells = self._cells(table, bench)
            one = Done(
                table.slug,
                cells,
                time.monotonic() - start,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            )
            done.append((table, one))
            self.say(table_text(table, cells) + "\n")
            if options["plots"]:
                self._plot(options["plots"], table, cells)
        if options["json"]:
            self._write_json(options["json"], done, bench)
        listed = bool(options["task"] or options["expected"])
        self._conclude([one for _, one in done], listed=listed)

    def _bench(self, options: dict[str, Any]) -> Workbench:
        if bool(options["task"]) == bool(options["data"]):
            raise CommandError("Give either --data or --task.")
        if options["data"] and not options["data"].is_dir():
            raise CommandError(f"There is no folder {options['data']}.")
        if options["runs"] is not None and options["runs"] < 1:
            raise CommandError(f"At least one run is needed, not {options['runs']}.")
        tell = self.stderr.write if options["verbosity"] else lambda text: None
        return Workbench(
            options["data"] or Path(),
            options["runs"],
            options["seed"],
            tell,
            options["expected"],
        )

    def _cells(self, table: Table, bench: Workbench) -> list[Cell]:
        try:
            return list(table.cells(bench))
        except (GenieError, ValueError) as error:
            raise CommandError(f"{table.slug}: {error}") from error

    def _plot(self, folder: Path, table: Table, cells: list[Cell]) -> None:
        picture = table_plot(table, cells)
        if picture is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{table.slug}.svg"
        path.write_text(picture, encoding="utf-8")
        self.stderr.write(f"Wrote {path}.")

    def _write_json(
        self, path: Path, done: list[tuple[Table, Done]], bench: Workbench
    ) -> None:
        content = {
            "closing": [one.counts() for _, one in done],
            "seed": bench.seed,
            "runs": bench.runs,
            "tables": [
                {
                    "table": table.slug,
                    "title": table.title,
                    "paper": table.paper,
                    "cells": [cell.to_dict() for cell in one.cells],
                }
                for table, one in done
            ],
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        self.write_file(path, text)

    def _conclude(self, done: list[Done], *, listed: bool) -> None:
        all_cells = [cell for one in done for cell in one.cells]
        self.say(closing_text(done))
        self.say(summary(all_cells))
        unmet = {Verdict.FAILS, *([Verdict.NO_DATA] if listed else [])}
        failed = [
            f"{one.table}: {cell.row}, {cell.column} ({cell.verdict})"
            for one in done
            for cell in one.cells
            if cell.verdict in unmet and cell.must_hold and cell.paper is not None
        ]
        if failed:
            more = len(failed) - _MOST_NAMED
            raise CommandError(
                f"{len(failed)} of the numbers that must hold are not met: "
                + "; ".join(failed[:_MOST_NAMED])
                + (f"; and {more} more" if more > 0 else "")
            )
        if all(cell.verdict is Verdict.NO_DATA for cell in all_cells):
            raise CommandError("The data folder has no data for these tables.")


def _choose_tables(names: list[str]) -> list[Table]:
    tables = all_tables()
    for name in names:
        if name not in tables:
            raise CommandError(
                f"There is no table {name}; available: {', '.join(tables)}."
            )
    chosen = [tables[name] for name in dict.fromkeys(names)] or list(tables.values())
    return [table() for table in chosen]


def _of_task(options: dict[str, Any]) -> list[Table]:
    if options["tables"]:
        raise CommandError("A task has one table: name no others with it.")
    task = find_row(Task.objects.all(), "task", slug=options["task"])
    if options["forget"]:
        forget_published(task)
    if options["published"]:
        _keep(task, options)
    table = TaskTable(task, options["expected"], options["part"])
    if options["expected"] is None and not task.published_figures.exists():
        raise CommandError(
            f"{task.slug} has no published numbers: give a list with --published, "
            "or with --expected one to compare with only."
        )
    return [table]


def _keep(task: Task, options: dict[str, Any]) -> None:
    keep_published(
        task,
        read_expected(options["published"]),
        part=options["part"],
        table=options["printed_in"],
        figures=options["figures"],
        why=options["why"],
    )
