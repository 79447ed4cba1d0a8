"""A simulated pilot of files, from the command line: nothing is loaded, programs answer."""

from __future__ import annotations

import json
from argparse import _ArgumentGroup
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from leaderboard.judges.models import Judge, JudgeRun, JudgeSheet
from leaderboard.judges.scripted import SCRIPTS
from leaderboard.judges.selectors.pilot import pilot_words
from leaderboard.judges.selectors.report import report, rows
from leaderboard.judges.selectors.told import cents, leaving
from leaderboard.judges.services import define, sheets
from leaderboard.judges.services.ask import Wish
from leaderboard.management.commands.judge import allowed, read_judge, run_here
from leaderboard.management.owner import owner
from leaderboard.studio.services import simulated
from leaderboard.studio.services.preview import compares
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material

Say = Callable[[str], Any]


def add_arguments(parser: CommandParser) -> None:
    group: _ArgumentGroup = parser.add_argument_group(
        "a simulated pilot: programs answer, nothing is loaded, no person is asked"
    )
    group.add_argument(
        "--pilot-by", nargs="+", default=[], metavar="JUDGE",
        help=f"TOML files of judges, or scripts: {', '.join(SCRIPTS)}",
    )  # fmt: skip
    group.add_argument("--pilot-inputs", type=int, default=simulated.N_ITEMS)
    group.add_argument("--pilot-repeats", type=int, default=simulated.REPEATS)
    group.add_argument(
        "--pilot-references", action="store_true", help="send hidden ones, too"
    )
    group.add_argument(
        "--pilot-send", action="store_true",
        help="really ask; else only the price and what would leave are said",
    )  # fmt: skip
    group.add_argument(
        "--pilot-most-cents", type=int, help="what it may cost; needed where it costs"
    )
    group.add_argument(
        "--pilot-json", type=Path, metavar="FILE", help="all that was found and said"
    )


def pilot(
    bundle: Bundle, material: Material, options: dict[str, Any], say: Say
) -> None:
    """Price it; where that is said, ask, say what stands out, and forget the texts."""
    by = owner(options["owner"])
    key = f"{simulated.OF_FILES}{bundle.slug}"
    # one that is not approved leaves nothing behind
    with transaction.atomic():
        pairs = compares(bundle)
        judges = [_judge(name, by, pairs=pairs) for name in options["pilot_by"]]
        sheet = simulated.price(
            key,
            bundle,
            material,
            judges,
            n_items=_within(options, "inputs", simulated.MOST_ITEMS),
            wish=Wish(
                repeats=_within(options, "repeats", simulated.MOST_REPEATS),
                with_references=options["pilot_references"],
            ),
            by=by,
        )
        for run in _runs(sheet):
            say("\n".join([run.judge.signature, *leaving(run)]))
        most = sum(run.most_cents for run in _runs(sheet))
        say(f"At most {cents(most)} together.")
        if not options["pilot_send"]:
            transaction.set_rollback(True)
            say("Nothing was sent and nothing was loaded; --pilot-send asks.")
            return
        if allowed(most, options["pilot_most_cents"]) < most:
            raise CommandError("That could pass --pilot-most-cents; nothing was sent.")
        sheets.approve(sheet, by=by, cents=most, references=True, private=True)
    try:
        _ask_and_say(sheet, options["pilot_json"], say)
    finally:
        sheets.end(key, by=by, reason="Said on the command line.")
    say("Nothing was loaded.")


def _ask_and_say(sheet: JudgeSheet, path: Path | None, say: Say) -> None:
    for run in _runs(sheet):
        run_here(run, say)
    for line in _lines(sheet):
        say(line)
    if path is not None:
        told = {**report(sheet), "answers": list(rows(sheet))}
        path.write_text(json.dumps(told, ensure_ascii=False, indent=2), "utf-8")
        say(f"All of it: {path}")


def _runs(sheet: JudgeSheet) -> list[JudgeRun]:
    return list(sheet.runs.select_related("judge", "sheet").order_by("pk"))


def _judge(name: str, by: Any, *, pairs: bool) -> Judge:
    if name in SCRIPTS:
        found = sheets.offered(pairs=pairs)
        fitting = [one for one in found if one.definition["model"] == name]
        if not fitting:
            raise CommandError(f"The script {name} is one for pairs.")
        return fitting[0]
    given, version, made, prices, pace = read_judge(Path(name))
    return define.make(given, version, made, by=by, **prices, **pace)


def _within(options: dict[str, Any], name: str, most: int) -> int:
    wanted = int(options[f"pilot_{name}"])
    if not 1 <= wanted <= most:
        raise CommandError(f"--pilot-{name} is a number from 1 to {most}.")
    return wanted


def _lines(sheet: JudgeSheet) -> Iterator[str]:
    found = report(sheet)
    ids = found["items"]
    yield found["note"]
    for one in found["texts"]:
        yield f"  {ids[one['item']]}, {one['where']}: {one['what']} (counted)"
    for run in _runs(sheet):
        for words in pilot_words(run):
            yield f"  {run.judge}: {words}"
    for judge in found["judges"]:
        if judge["unanswered"]:
            named = ", ".join(ids[item] for item in judge["unanswered"][:10])
            yield f"  {judge['judge']}: no valid answer at all for {named}"
        for pair in judge["same"]:
            both = " and ".join(pair["criteria"])
            rho = pair["correlation"]
            yield f"  {judge['judge']}: {both} say the same (Spearman {rho:.2f})"
    for pair in found["between"]:
        if pair["correlation"] is not None:
            both = " and ".join(pair["judges"])
            unlike = ": read differently" if pair["unlike"] else ""
            rho = pair["correlation"]
            yield f"  {pair['criterion']}, {both}: Spearman {rho:.2f}{unlike}"
