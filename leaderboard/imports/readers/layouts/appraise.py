"""Appraise, the platform of WMT: a table without a header, one row per score."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from operator import itemgetter
from typing import Any

from leaderboard.files import File
from leaderboard.imports.readers import sources
from leaderboard.imports.readers.judgments import Judgments, Role, from_rows
from leaderboard.imports.readers.layout import Choice, one_of, pick
from leaderboard.imports.readers.marked import Campaigns, Row, add_rows
from leaderboard.imports.readers.segments import add_texts, name_segments
from leaderboard.imports.readers.spans import inclusive, mqm_score

_FIRST = ["account", "system", "item", "type", "from", "to", "score"]
# Scores of segments, of documents, and with errors; then with batch and item.
_KINDS = {9: [*_FIRST, "start", "at"], 11: [*_FIRST, "page", "whole", "start", "at"]}
_KINDS |= {12: [*_FIRST, "page", "whole", "spans", "start", "at"]}
_KINDS |= {n + 2: [*_KINDS[n], "batch", "batch_item"] for n in (11, 12)}
_TYPES = {"TGT": "judgment", "BAD": "planted", "REF": "reference", "CHK": "repeated"}
# In the flag of whole documents, the system and the document; the first one counts.
_MARKS = {"tutorial": "tutorial", "#(dupli|inc)": "fill-up", "#dup": "repeated"}
_MARKS |= {"#bad": "planted", "^True": "document"}
_PARSERS: dict[str, Any] = dict.fromkeys(("score", "start", "at"), sources.finite)
_PARSERS["type"] = lambda cell: _TYPES[cell] and cell
_PARSERS["spans"] = lambda cell: inclusive(json.loads(cell or "[]"))


class Appraise(Campaigns):
    """Direct assessment by segment or document, ESA and MQM."""

    slug = "appraise"
    title = "Appraise (WMT: DA, SQM, ESA, MQM)"

    @classmethod
    def has_ratings(cls, file: File) -> bool:
        return bool(_columns(file))

    @classmethod
    def questions(cls, files: Sequence[File]) -> tuple[Choice, ...]:
        made = Judgments(cls.slug, from_rows([]))
        rows = [row for file in files for row in _rows(file, made)]
        items = Choice("items", "Does each account have items of no other?", ("apart",))
        return one_of("pair", "Which pair of languages?", _pairs(rows)), items

    @classmethod
    def read_file(
        cls, n: int, files: Sequence[File], choices: Mapping[str, Any], made: Judgments
    ) -> None:
        name, rows = files[n].name, list(_rows(files[n], made))
        pair = pick(choices, "pair", _pairs(rows))
        rows = [row for row in rows if row["pair"] == pair]
        add_texts(rows, files)
        name_segments(rows, files, made, name, apart=choices.get("items") == "apart")
        rows = [row for row in rows if row["usable"]]
        if "planted" not in {row["role"] for row in rows}:
            # without tests of raters, the reference is a system like others
            for row in rows:
                row["role"] = {"reference": "judgment"}.get(row["role"], row["role"])
        people = sources.pairs_in(files, "login", "annotator")
        if unknown := len({row["account"] for row in rows} - people.keys()):
            what = f"Accounts of unknown people, each taken for a person: {unknown:,}."
            made.report("annotators.csv", 0, "login", what, fatal=False)
        real = [row for row in rows if row["role"] == Role.JUDGMENT]
        starts = {re.sub(r"^([a-z]+\d+\.)?.*", r"\1", row["system"]) for row in real}
        prefix = starts.pop() if len(starts) == 1 else ""
        scored, texts = any(row["score"] for row in real), []
        began = dict[str, float]()
        for row in sorted(rows, key=itemgetter("start")):
            row |= {"file": n, "worker": people.get(row["account"], row["account"])}
            row |= {"values": {"DA": row["score"]}, "seconds": row["at"] - row["start"]}
            if row["spans"] is not None:  # "at" is the time of the last change
                cost = {"MQM": mqm_score(row["spans"])}
                row["values"] = {"ESA": row["score"]} | cost if scored else cost
                row["seconds"] = row["start"] - began.get(row["account"], nan)
            began[row["account"]] = row["start"]
            for system in row["system"].split("+"):
                texts.append({**row, "system": system.removeprefix(prefix)})
        add_rows(made, texts, name, ("account", "item", "type", "tag", "start"))
        made.scales = {"DA": "0 to 100", "ESA": "0 to 100"}
        made.languages = (pair.partition("-")[0], pair.partition("-")[2])


def _pairs(rows: Sequence[Row]) -> list[str]:
    return sorted({row["pair"] for row in rows if row["usable"]}) or ["-"]


def _columns(file: File) -> list[str]:
    rows = [r for r in sources.first_rows(file) if {*map(str, r[3:4])} & {*_TYPES}]
    return next((_KINDS[len(row)] for row in rows if len(row) in _KINDS), [])


def _rows(file: File, made: Judgments) -> Iterator[Row]:
    for row in sources.parsed_rows(file, _columns(file), _PARSERS, made):
        row = {"whole": "", "page": "", "spans": None, **row}
        row["document"], _, row["tag"] = row["page"].partition("#")
        marks = f"{row['whole']} {row['system']} {row['page']}"
        roles = [_MARKS[one] for one in _MARKS if re.search(one, marks)]
        row["role"] = [*roles, _TYPES.get(row["type"], "")][0]
        yield {**row, "pair": f"{row['from']}-{row['to']}"}
