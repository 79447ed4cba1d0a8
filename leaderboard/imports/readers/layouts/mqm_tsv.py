"""Google's MQM tables: one row per error, with the span marked within the text."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leaderboard.files import File, refuse
from leaderboard.imports.readers.judgments import Judgments, Role, Span, from_rows
from leaderboard.imports.readers.layout import NOT_MINE, Layout, Look
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.segments import name_segments
from leaderboard.imports.readers.sources import has_columns, rows_of
from leaderboard.imports.readers.spans import WEIGHTS, mqm_score

_KEY = ("rater", "system", "doc", "seg_id")
_COLUMNS = (*_KEY, "category", "severity", "source", "target")
# Of these columns, only "category" may be empty.
_NEEDED = ("rater", "system", "seg_id", "severity", "category")
# Later campaigns number segments within documents, too.
_LATER = {"globalsegid": "seg_id"}
_NO_ERROR = {"no-error", "no error"}


class MQMTable(Layout):
    """Errors by several raters; a text's score is the cost of its errors."""

    slug = "mqm-tsv"
    title = "MQM table (Google)"
    files = (
        "A table with the columns system, doc, doc_id, seg_id, rater, source, target,"
        " category and severity, a row an error"
    )

    @classmethod
    def look(cls, sources: Sequence[File]) -> Look:
        if not any(map(_is_table, sources)):
            return NOT_MINE
        return Look(0.95, "a row an error: seg_id, rater, category, severity")

    @classmethod
    def read(cls, sources: Sequence[File], choices: Mapping[str, Any]) -> Judgments:
        files, made = sources, Judgments(cls.slug, from_rows([]))
        marked: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        for n, file in enumerate(files):
            for error in _errors(file, made):
                marked[tuple(error[name] for name in _KEY)].append(error | {"file": n})
        if not marked:
            raise refuse("no-errors", f"no table has {', '.join(_NEEDED)}", "")
        people, rows = pseudonyms(rater for rater, *_ in marked), []
        for (rater, _, document, segment), errors in marked.items():
            first, planted = errors[0], any(error["planted"] for error in errors)
            value = round(sum(error["cost"] for error in errors), 6) + 0.0
            about = {
                "role": (Role.PLANTED if planted else Role.JUDGMENT).value,
                "worker": people[rater],
                "item": segment,
                "criterion": "MQM",
                "value": value,
                "word": str(value),
                "document": document,
                "spans": [error["span"] for error in errors if error["span"]],
            }
            rows.append(first | about)
        name_segments(rows, files, made)
        for row in rows:
            made.keep(row)
        return replace(made, rows=from_rows(rows))


def _is_table(file: File) -> bool:
    later = [one for one in _NEEDED if one != "seg_id"]
    return has_columns(file, *_NEEDED) or has_columns(file, *later, *_LATER)


def _errors(file: File, made: Judgments) -> Iterator[dict[str, Any]]:
    if not _is_table(file):
        return
    seen = list[tuple[str, ...]]()
    for number, row in rows_of(file, made):
        cells = {name.lower(): str(cell) for name, cell in row.items()}
        cells |= {new: cells[old] for old, new in _LATER.items() if old in cells}
        error: dict[str, Any] = {name: cells.get(name, "") for name in _COLUMNS}
        if missing := [name for name in _NEEDED[:-1] if not error[name].strip()]:
            what = "It is empty or the row is cut short: put it right or take it out."
            made.report(file.name, number, missing[0], what)
            continue
        category = error["category"].strip()
        severity = error["severity"].strip().lower()
        planted = severity.startswith("hotw")  # errors that were inserted as a test
        error |= {"row": number, "span": None, "cost": 0.0, "planted": planted}
        if not _NO_ERROR & {category.lower(), severity}:
            seen.append(tuple(cells.values()))
            span = Span(*_place(error["target"], error["source"]), severity, category)
            error["span"] = span.to_dict()
            try:
                error["cost"] = mqm_score([] if planted else [span], google=True)
            except ValueError as wrong:
                where = (file.name, f"row {number:,}, severity")
                raise refuse("unknown-severity", str(wrong), *where) from wrong
        elif severity not in _NO_ERROR | {*WEIGHTS}:
            what = f"{severity!r} is no severity, though there is no error."
            made.report(file.name, number, "severity", what, fatal=False)
        for name, column in (("source", "source"), ("output", "target")):
            error[name] = re.sub("</?v>", "", error[column])
        yield error
    if again := len(seen) - len({*seen}):
        what = f"Errors that repeat an earlier row, all of which count: {again:,}."
        made.report(file.name, 0, "", what, fatal=False)


def _place(target: str, source: str) -> tuple[int | None, int | None]:
    """Return the mark's place in the target; none for a mark in the source only."""
    if mark := re.search("<v>.*?</v>", target, re.DOTALL):
        return mark.start(), mark.end() - len("<v></v>")
    return (None, None) if "<v>" in source + target else (0, len(target))
