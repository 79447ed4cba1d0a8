"""Recompute the published tables from the published data, and say what holds."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.papers.cell import Cell, Verdict
from leaderboard.papers.plot import table_plot
from leaderboard.papers.report import summary, table_text
from leaderboard.papers.table import Table, Workbench, all_tables


class Command(BaseCommand):
    help = (
        "Recompute published tables of Genie, RankME and Dynamic Human "
        "Evaluation and print, for each cell, the paper's value, ours, the "
        "tolerance and the verdict. Exit code 1 if a cell that should match "
        "does not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        tables = all_tables()
        parser.add_argument(
            "tables",
            nargs="*",
            metavar="TABLE",
            help=f"{', '.join(tables)}; all if none is named",
        )
        parser.add_argument(
            "--data",
            type=Path,
            required=True,
            help="folder with dynamic/, rankme/ and wmt21-de-en/",
        )
        parser.add_argument(
            "--runs",
            type=int,
            help="number of simulation runs (default: each table's own number)",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, help="file for all values")
        parser.add_argument("--plots", type=Path, help="folder for one SVG per table")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = _chosen(options["tables"])
        bench = self._bench(options)
        done: list[tuple[type[Table], list[Cell]]] = []
        for index, table in enumerate(chosen, 1):
            start = time.monotonic()
            cells = self._cells(table, bench)
            done.append((table, cells))
            self.stdout.write(table_text(table, cells) + "\n")
            if options["plots"]:
                self._plot(options["plots"], table, cells)
            if options["verbosity"]:
                seconds = time.monotonic() - start
                self.stderr.write(
                    f"{index} of {len(chosen)}: {table.slug}, {seconds:.0f} s"
                )
        if options["json"]:
            self._write_json(options["json"], done, bench)
        self._conclude(done)

    def _bench(self, options: dict[str, Any]) -> Workbench:
        if not options["data"].is_dir():
            raise CommandError(f"There is no folder {options['data']}.")
        if options["runs"] is not None and options["runs"] < 1:
            raise CommandError(f"At least one run is needed, not {options['runs']}.")
        tell = self.stderr.write if options["verbosity"] else lambda text: None
        return Workbench(options["data"], options["runs"], options["seed"], tell)

    def _cells(self, table: type[Table], bench: Workbench) -> list[Cell]:
        try:
            return list(table().cells(bench))
        except (GenieError, ValueError) as error:
            raise CommandError(f"{table.slug}: {error}") from error

    def _plot(self, folder: Path, table: type[Table], cells: list[Cell]) -> None:
        picture = table_plot(table, cells)
        if picture is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{table.slug}.svg"
        path.write_text(picture, encoding="utf-8")
        self.stderr.write(f"Wrote {path}.")

    def _write_json(
        self,
        path: Path,
        done: list[tuple[type[Table], list[Cell]]],
        bench: Workbench,
    ) -> None:
        content = {
            "seed": bench.seed,
            "runs": bench.runs,
            "tables": [
                {
                    "table": table.slug,
                    "title": table.title,
                    "paper": table.paper,
                    "cells": [cell.to_dict() for cell in cells],
                }
                for table, cells in done
            ],
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        path.write_text(text, encoding="utf-8")
        self.stderr.write(f"Wrote {path}.")

    def _conclude(self, done: list[tuple[type[Table], list[Cell]]]) -> None:
        all_cells = [cell for _, cells in done for cell in cells]
        self.stdout.write(summary(all_cells))
        failed = [
            f"{table.slug}: {cell.row}, {cell.column}"
            for table, cells in done
            for cell in cells
            if cell.verdict is Verdict.FAILS
        ]
        if failed:
            raise CommandError(
                f"{len(failed)} of the cells that should match do not: "
                + "; ".join(failed)
            )
        if all(cell.verdict is Verdict.NO_DATA for cell in all_cells):
            raise CommandError("The data folder has no data for these tables.")


def _chosen(names: list[str]) -> list[type[Table]]:
    tables = all_tables()
    for name in names:
        if name not in tables:
            raise CommandError(
                f"There is no table {name}; available: {', '.join(tables)}."
            )
    return [tables[name] for name in dict.fromkeys(names)] or list(tables.values())
