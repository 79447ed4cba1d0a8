"""Two outputs side by side, and the one that a worker preferred."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import fields_of, is_nothing, moments, numbers
from leaderboard.imports.readers.preferred import outcomes, same_name
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import Table, extra_of, header_of, table_of
from leaderboard.imports.readers.taking import (
    SAME_THING,
    put_inputs,
    put_outputs,
    say_blanks,
    say_doubles,
    stacked,
    words_of,
)

_ALL = "all"
_TEXTS = ("output_a", "output_b")
_MEANINGS = ("first_is", "second_is", "tie_is")
_TAKEN = (
    "system_a", "system_b", "preferred", "worker", "instance", "criterion", "at", "began",
    "seconds", "page", "document", "role", "input", *_TEXTS,
)  # fmt: skip


class TwoChoice(Layout):
    """One line per comparison: the two systems, the winner, and the rater."""

    slug = "two-choice"
    title = "Two-choice table"
    files = (
        "a table with system_a, system_b (or shown_a, model_a, ...), preferred (or winner), "
        "worker and instance; a table of pairs with text_a and text_b beside it"
    )
    tried_on = "Dynamic Human Evaluation: 10,000 choices"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        found = [s for s in sources if _is_mine(header_of(s))]
        if not found:
            return NOT_MINE
        fields = _fields(header_of(found[0]))
        names = (_ALL, *(source.stem for source in found))
        return Look(
            0.85 if {"worker", "instance"} <= set(fields) else 0.6,
            f"columns {fields['system_a']}, {fields['system_b']}, {fields['preferred']}",
            (
                Choice("part", "Which file?", names, _ALL),
                Choice("first_is", "Which words mean the first (commas between)?"),
                Choice("second_is", "Which words mean the second?"),
                Choice("tie_is", "Which words mean neither?"),
            ),
        )

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        import pandas as pd

        mine = {n: s for n, s in enumerate(sources) if _is_mine(header_of(s))}
        names = [_ALL, *(source.stem for source in mine.values())]
        part = chosen(choices, "part", names, _ALL)
        judgments = Judgments(cls.slug, frame({}))
        parts, extras = [], []
        for number, source in mine.items():
            if part in (_ALL, source.stem):
                rows, extra = _rows(table_of(source), choices, judgments)
                parts.append(rows.assign(file=number))
                extras.append(extra)
        if not sum(map(len, parts)):
            raise GenieError(
                "No line says which of two systems is preferred: say which words mean the "
                "first and the second (first_is, second_is).",
                code="no-rows",
            )
        judgments.rows = pd.concat(parts, ignore_index=True)
        judgments.extra = pd.concat(extras, ignore_index=True).fillna("")
        shown = set(judgments.rows["instance"])
        for number, source in enumerate(sources):
            if number not in mine:
                _take_pairs(source, shown, judgments)
        say_doubles(judgments, sources[0].name, (*SAME_THING, "other"))
        return judgments


def _fields(header: Sequence[str]) -> dict[str, str]:
    fields = fields_of(header)
    if "preferred" not in fields and "value" in fields:
        fields["preferred"] = fields.pop("value")
    return fields


def _is_mine(header: Sequence[str]) -> bool:
    return {"system_a", "system_b", "preferred"} <= set(_fields(header))


def _rows(
    table: Table, choices: Mapping[str, Any], judgments: Judgments
) -> tuple[Any, Any]:
    fields = _fields(table.header)
    judgments.problems += table.problems
    pair = [fields["system_a"], fields["system_b"]]
    judgments.problems += say_blanks(table, pair)
    first, second = map(table.column, pair)
    words = table.column(fields["preferred"])
    words = np.where(is_nothing(words), "", words)
    means = tuple(str(choices.get(name) or "").split(",") for name in _MEANINGS)
    values = outcomes(words, first, second, tuple([w for w in m if w] for m in means))  # type: ignore[arg-type]
    judgments.problems += _problems(table, fields, values, words, first, second)
    bad = np.isnan(values) | (first == second) | (second == "")
    at = moments(words_of(table, fields.get("at")))
    spent = numbers(words_of(table, fields.get("seconds")))
    if "seconds" not in fields:
        spent = at - moments(words_of(table, fields.get("began")))
    one = {
        "row": table.rows,
        "role": _roles(table, fields),
        "system": first,
        "other": second,
        # a word that is no outcome is no comparison
        "value": np.where(bad, np.nan, values),
        "word": np.where(bad, "", words),
        "at": at,
        "seconds": spent,
        # columns of the texts have their places
        "place": 0 if fields["system_a"].lower().startswith("shown") else -1,
        **{
            field: words_of(table, fields.get(field))
            for field in ("worker", "instance", "criterion", "page", "document")
        },
    }
    _take_texts(table, fields, judgments)
    extra, problems = extra_of(table, [fields[f] for f in _TAKEN if f in fields])
    judgments.problems += problems
    return stacked([one], extra)


def _roles(table: Table, fields: Mapping[str, str]) -> list[str]:
    found = None
    if "role" in fields:
        found, _ = roles_of(list(table.column(fields["role"])))
    return found or [Role.JUDGMENT.value] * len(table.rows)


def _problems(
    table: Table,
    fields: Mapping[str, str],
    values: Any,
    words: Any,
    first: Any,
    second: Any,
) -> list[Problem]:
    name = fields["preferred"]
    unknown = np.isnan(values) & (words != "") & (first != second)
    found = [
        Problem(
            table.name, int(table.rows[i]), name,
            f"{words[i][:40]!r} can be a system in other letters or a side: write the exact "
            "name, or say what the word means (first_is, second_is)."
            if any(same_name(words[i], one[i]) for one in (first, second))
            else f"{words[i][:40]!r} is neither of the systems, a side, nor a tie: say what "
            "it means (first_is, second_is, tie_is).",
        )
        for i in np.flatnonzero(unknown)
    ]  # fmt: skip
    found += [
        Problem(
            table.name, int(table.rows[i]), "", "compares no two different systems."
        )
        for i in np.flatnonzero((first == second) | (first == "") | (second == ""))
    ]
    if (words == "").any():
        sentence = f"Empty cells, which say nothing: {int((words == '').sum()):,}."
        found.append(Problem(table.name, 0, name, sentence, fatal=False))
    for field in ("worker", "instance"):
        if field not in fields:
            sentence = f"No column says the {field}: no agreement and no doubles by it."
            found.append(Problem(table.name, 0, "", sentence, fatal=False))
    return found


def _take_texts(table: Table, fields: Mapping[str, str], judgments: Judgments) -> None:
    if "instance" not in fields:
        return
    instances = table.column(fields["instance"])
    if "input" in fields:
        name = fields["input"]
        put_inputs(judgments.texts, instances, name, table.words[name])
    for system, text in zip(("system_a", "system_b"), _TEXTS, strict=True):
        if {system, text} <= set(fields):
            systems = table.column(fields[system])
            put_outputs(judgments.texts, systems, instances, table.words[fields[text]])


def _take_pairs(source: Source, shown: set[str], judgments: Judgments) -> None:
    fields = fields_of(header_of(source))
    if not {"instance", "system_a", "system_b", *_TEXTS} <= set(fields):
        sentence = "has no columns of two systems and a winner and was not read."
        judgments.problems.append(Problem(source.name, 0, "", sentence, fatal=False))
        return
    table = table_of(source)
    known = [
        i for i, one in enumerate(table.column(fields["instance"])) if one in shown
    ]
    table = Table(
        table.name, table.words.iloc[known].reset_index(drop=True), table.rows[known]
    )
    _take_texts(table, fields, judgments)
    extra, _ = extra_of(table, [fields[f] for f in _TAKEN if f in fields])
    for name in extra:
        instances = table.column(fields["instance"])
        put_inputs(judgments.texts, instances, str(name), extra[name])
