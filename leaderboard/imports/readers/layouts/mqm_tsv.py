"""Google's MQM tables: one row per error, with the span marked within the text."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.files import File, refuse
from leaderboard.imports.readers.judgments import Judgments, Role, Span, from_rows
from leaderboard.imports.readers.layout import NOT_MINE, Layout, Look
from leaderboard.imports.readers.marked import Row, add_rows
from leaderboard.imports.readers.segments import name_segments
from leaderboard.imports.readers.sources import has_columns, rows_of
from leaderboard.imports.readers.spans import WEIGHTS, mqm_score

_KEY = ("worker", "system", "document", "item")
# Of these columns, only "category" may be empty.
_NEEDED = ("rater", "system", "seg_id", "severity", "category")
_NO_ERROR = {"no-error", "no error"}


class MQMTable(Layout):
    """Errors by several raters; a text's score is the cost of its errors."""

    slug = "mqm-tsv"
    title = "MQM table (Google)"

    @classmethod
    def look(cls, sources: Sequence[File]) -> Look:
        return Look(0.95) if any(map(_is_table, sources)) else NOT_MINE

    @classmethod
    def read(cls, sources: Sequence[File], choices: Mapping[str, Any]) -> Judgments:
        made = Judgments(cls.slug, from_rows([]))
        marked: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for n, file in enumerate(sources):
            for error in _errors(file, made) if _is_table(file) else ():
                marked[tuple(error[name] for name in _KEY)].append(error | {"file": n})
        if not marked:
            raise refuse("no-errors", f"no table has {', '.join(_NEEDED)}", "")
        texts = []
        for errors in marked.values():
            planted = any(error["planted"] for error in errors)
            texts.append(errors[0] | {"spans": [s for e in errors for s in e["spans"]]})
            texts[-1]["role"] = (Role.PLANTED if planted else Role.JUDGMENT).value
            cost = sum(error["cost"] for error in errors)
            texts[-1]["values"] = {"MQM": round(cost, 6) + 0.0}
        name_segments(texts, sources, made)
        add_rows(made, texts, "")
        return made


def _is_table(file: File) -> bool:
    # later campaigns number segments within documents, too
    all_ = {*_NEEDED, "globalsegid"}
    return any(has_columns(file, *all_ - {one}) for one in ("seg_id", "globalsegid"))


def _errors(file: File, made: Judgments) -> Iterator[Row]:
    seen = list[tuple[str, ...]]()
    for number, row in rows_of(file, made):
        cells = defaultdict(str, {name.lower(): str(row[name]) for name in row})
        cells["seg_id"] = cells["globalsegid"] or cells["seg_id"]
        if missing := [name for name in _NEEDED[:-1] if not cells[name].strip()]:
            what = "It is empty or the row is cut short: put it right or take it out."
            made.report(file.name, number, missing[0], what)
            continue
        category = cells["category"].strip()
        severity = cells["severity"].strip().lower()
        planted = severity.startswith("hotw")  # errors that were inserted as a test
        spans, cost = list[Span](), 0.0
        if not _NO_ERROR & {category.lower(), severity}:
            seen.append(tuple(cells.values()))
            spans = [
                Span(*_place(cells["target"], cells["source"]), severity, category)
            ]
            try:
                cost = mqm_score([] if planted else spans, google=True)
            except ValueError as wrong:
                where = (file.name, f"row {number:,}, severity")
                raise refuse("unknown-severity", str(wrong), *where) from wrong
        elif severity not in _NO_ERROR | {*WEIGHTS}:
            what = f"{severity!r} is no severity, though there is no error."
            made.report(file.name, number, "severity", what, fatal=False)
        texts = [re.sub("</?v>", "", cells[name]) for name in ("source", "target")]
        ids = (cells["rater"], cells["system"], cells["doc"], cells["seg_id"])
        about = {"row": number, "planted": planted, "spans": spans, "cost": cost}
        about |= {"account": "", "page": "", "source": texts[0], "output": texts[1]}
        yield {**dict(zip(_KEY, ids, strict=True)), **about}
    if again := len(seen) - len({*seen}):
        what = f"Errors that repeat an earlier row, all of which count: {again:,}."
        made.report(file.name, 0, "", what, fatal=False)


def _place(target: str, source: str) -> tuple[int | None, int | None]:
    """Return the mark's place in the target; none for a mark in the source only."""
    if mark := re.search("<v>.*?</v>", target, re.DOTALL):
        return mark.start(), mark.end() - len("<v></v>")
    return (None, None) if "<v>" in source + target else (0, len(target))
