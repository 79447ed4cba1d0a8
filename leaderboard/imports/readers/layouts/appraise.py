"""Appraise, the platform of WMT: a table without a header, one row per score."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

from leaderboard.files import File, refuse
from leaderboard.imports.readers.judgments import Judgments, Role, from_rows, supersede
from leaderboard.imports.readers.layout import (
    NOT_MINE,
    Choice,
    Layout,
    Look,
    one_of,
    pick,
)
from leaderboard.imports.readers.marked import Row, add_rows
from leaderboard.imports.readers.segments import add_texts, name_segments
from leaderboard.imports.readers.sources import (
    finite,
    first_rows,
    pairs_in,
    parsed_rows,
    stem_of,
)
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
_PARSERS: dict[str, Any] = dict.fromkeys(("score", "start", "at"), finite)
_PARSERS["type"] = lambda cell: _TYPES[cell] and cell
_PARSERS["spans"] = lambda cell: inclusive(json.loads(cell or "[]"))
_AGAIN = ("role", "page", "system", "instance", "criterion")


class Appraise(Layout):
    """Direct assessment by segment or document, ESA and MQM."""

    slug = "appraise"
    title = "Appraise (WMT: DA, SQM, ESA, MQM)"
    files = "Scores without a header; annotators.csv, batches (JSON), documents.tsv"

    @classmethod
    def look(cls, sources: Sequence[File]) -> Look:
        files, made = sources, Judgments(cls.slug, from_rows([]))
        names = {stem_of(file): file for file in files if _columns(file)}
        rows = [row for file in names.values() for row in _rows(file, made)]
        campaign = one_of("campaign", "Which campaign's file shall be read?", [*names])
        items = Choice("items", "Does each account have items of no other?", ("apart",))
        pair = one_of("pair", "Which pair of languages?", _pairs(rows))
        asked = (campaign, pair, items)
        return Look(0.95, "rows without a header", asked) if names else NOT_MINE

    @classmethod
    def read(cls, sources: Sequence[File], choices: Mapping[str, Any]) -> Judgments:
        import pandas as pd

        files, made = sources, Judgments(cls.slug, from_rows([]))
        names = {stem_of(file): n for n, file in enumerate(files) if _columns(file)}
        if not names:
            raise refuse("not-appraise", "no file has rows of scores by Appraise", "")
        n = names[pick(choices, "campaign", [*names])]
        rows = list(_rows(files[n], made))
        pair = pick(choices, "pair", _pairs(rows))
        rows = [row for row in rows if row["pair"] == pair]
        add_texts(rows, files)
        apart = choices.get("items") == "apart"
        name_segments(rows, files, made, files[n].name, apart=apart)
        rows = [row for row in rows if row["usable"]]
        people = pairs_in(files, "login", "annotator")
        if unknown := len({row["account"] for row in rows} - people.keys()):
            what = f"Accounts of unknown people, each taken for a person: {unknown:,}."
            made.report("annotators.csv", 0, "login", what, fatal=False)
        real = [row for row in rows if row["role"] == Role.JUDGMENT]
        starts = {re.sub(r"^([a-z]+\d+\.)?.*", r"\1", row["system"]) for row in real}
        prefix = starts.pop() if len(starts) == 1 else ""
        scored, texts = any(row["score"] for row in real), []
        started = dict[str, float]()
        for row in sorted(rows, key=lambda row: float(row["start"])):
            account, score, spans = row["account"], row["score"], row["spans"]
            row |= {"file": n, "worker": people.get(account, account)}
            row["seconds"] = row["start"] - started.get(account, nan)
            started[account] = row["start"]
            if spans is None:
                row |= {"values": {"DA": score}, "seconds": row["at"] - row["start"]}
            else:  # "at" is the time of the last change
                scores = {"ESA": score} if scored else {}
                row["values"] = {**scores, "MQM": mqm_score(spans)}
            for system in row["system"].split("+"):
                texts.append({**row, "system": system.removeprefix(prefix)})
        extra = pd.DataFrame(add_rows(made, texts, files[n].name))
        made.extra = extra.reindex(columns=["account", "item", "type", "tag", "start"])
        supersede(made.rows, _AGAIN, [Role(one) for one in _TYPES.values()])
        made.scales = {"DA": "0 to 100", "ESA": "0 to 100"}
        made.languages = (pair.partition("-")[0], pair.partition("-")[2])
        return made


def _pairs(rows: Sequence[Row]) -> list[str]:
    return sorted({row["pair"] for row in rows if row["usable"]}) or ["-"]


def _columns(file: File) -> list[str]:
    rows = [row for row in first_rows(file) if {*map(str, row[3:4])} & {*_TYPES}]
    return next((_KINDS[len(row)] for row in rows if len(row) in _KINDS), [])


def _rows(file: File, made: Judgments) -> Iterator[Row]:
    for row in parsed_rows(file, _columns(file), _PARSERS, made):
        row = {"whole": "", "page": "", "spans": None, **row}
        row["document"], _, row["tag"] = row["page"].partition("#")
        marks = f"{row['whole']} {row['system']} {row['page']}"
        roles = [_MARKS[one] for one in _MARKS if re.search(one, marks)]
        row["role"] = [*roles, _TYPES.get(row["type"], "")][0]
        yield {**row, "pair": f"{row['from']}-{row['to']}"}
