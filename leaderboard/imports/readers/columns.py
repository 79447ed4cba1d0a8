"""Read any file of ratings by the roles of its columns."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.files import File, printable
from leaderboard.imports.readers.expand import read_tables
from leaderboard.imports.readers.families import (
    Column,
    leave_unnamed,
    name_by_words,
)
from leaderboard.imports.readers.guess import guess_roles
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import (
    CONSTANT,
    NAMED,
    Chosen,
    add_words,
    read_choices,
)
from leaderboard.imports.readers.patterns import group_numbers, is_pattern, matches
from leaderboard.imports.readers.questions import (
    add_second,
    asked_of,
    guess_lower,
    missing_in,
    sure_guesses,
    usual_words,
)
from leaderboard.imports.readers.rows import judged_rows
from leaderboard.imports.readers.shapes import Read, of_one_set, reshape
from leaderboard.imports.readers.values import MEASURES, MOST_VALUES, OF_FILE, Values

# The columns of a file can be read from so many bytes.
_ENOUGH = 60_000


@dataclass
class Proposal:
    """What files hold: their columns with roles, and what a person must decide.

    `rows` are the first ten, and `judgments` what the roles make of the files. `mapping`
    has the roles and answers by which they are read.
    """

    columns: list[Column]
    questions: list[Choice] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)
    judgments: Judgments | None = None
    mapping: dict[str, Any] = field(default_factory=dict)


def names_in(files: Sequence[File]) -> list[str]:
    """Return the columns of all files, from their beginnings; none of no tables."""
    names: dict[str, None] = {}
    for file in files:
        for one in (_start_of(file), file):
            with suppress(GenieError):
                names |= dict.fromkeys(read_tables([one], {}, [0])[0][0].words)
                break
    return list(names)


def _start_of(file: File) -> File:
    head, name = file.head(), file.name.removesuffix(".gz")
    if len(head) < _ENOUGH or not name.lower().endswith((".csv", ".tsv", ".jsonl")):
        return file
    return File(name, partial(io.BytesIO, head[: head.rfind(b"\n") + 1]))


def propose(
    files: Sequence[File], choices: Mapping[str, Any], *, answered: bool = False
) -> Proposal:
    """Read files and return their columns, the questions, and the ratings.

    If a person `answered`, guesses that are shown beside it hold. Raises `Unreadable` if
    no file is a table, and errors of the choices.
    """
    parts, sets = of_one_set(files, choices)
    if sets:
        return Proposal([], sets)
    read, problems = read_tables(files, choices, parts)
    names = dict.fromkeys(chain.from_iterable(one.words for one in read))
    if not names.keys() - {*OF_FILE}:
        raise GenieError(
            f"{files[0].name} has no columns: its entries are no objects. "
            "--choose within=PATH or rows=PATH names the list of the rows.",
            code="not-rows",
        )
    try:
        said, taken = reshape(read, choices, parts), list[Choice]()
        found = _propose(read, said, [*problems])
        while answered and (sure := sure_guesses(found.questions)):
            taken += sure
            for one in sure:
                said[one.name] = (
                    add_words(said.get("words"), one.found)
                    if one.name == "words"
                    else one.found
                )
            found = _propose(read, said, [*problems])
        found.mapping = {one.name: said[one.name] for one in taken}
        if found.judgments is not None:
            found.questions += _tell(taken, found.judgments, files[0].name)
        return found
    except GenieError as error:
        if "columns are" in error.message:
            raise
        listed = ", ".join(map(printable, [*names][:60]))
        raise GenieError(
            f"{error.message} The columns are: {listed}.", code=error.code
        ) from error


def _propose(
    read: Sequence[Read], choices: Mapping[str, Any], problems: list[Problem]
) -> Proposal:
    columns = list(dict.fromkeys(chain.from_iterable(one.words for one in read)))

    said = read_choices(choices, columns)
    most = -(-MOST_VALUES // len(read))
    together = {
        name: Values(
            name,
            [
                word
                for one in read
                for word in one.words.get(name, [""] * len(one.table.numbers))[:most]
            ][:MOST_VALUES],
        )
        for name in columns
    }
    families = {one.name: one for one in guess_roles(together, {})[0]}
    fixed = _choose_columns(said, families, columns)
    roles = {name: role for role, one in fixed for name in one.fields}
    guess, asked = guess_roles(together, roles)
    guessed = _assign(guess, fixed, said, columns)
    usual = usual_words(guessed, together, said)
    said = replace(
        said, words={**said.words, "*": {**usual, **said.words.get("*", {})}}
    )
    said = add_second(said, guessed)
    found = Proposal(guessed)
    found.rows = [
        {name: str(cells[i])[:80] for name, cells in read[0].words.items()}
        for i in range(min(10, len(read[0].table.numbers)))
    ]
    asked = [one for one in asked if one.name not in choices]
    names = {one.name for one in asked}
    found.questions = [
        *(one for one in missing_in(guessed, said, columns) if one.name not in names),
        *asked,
    ]
    if not any(one.needed for one in found.questions):
        found.judgments = judged_rows(read, guessed, said, problems)
        more = asked_of(found.judgments, guessed, said)
        found.questions += [
            one for one in more if one.name != "counted" or "counted" not in choices
        ]
        found.questions += _guesses(found.judgments, read[0].table.file, usual, choices)
    return found


def _guesses(
    judgments: Judgments,
    name: str,
    usual: Mapping[str, float | str],
    choices: Mapping[str, Any],
) -> list[Choice]:
    """Return questions that were answered by a guess, and add them to the problems."""
    codes = [word for word, worth in usual.items() if worth == "none"]
    lower = [] if "lower_is_better" in choices else guess_lower(judgments)
    judgments.lower_is_better = judgments.lower_is_better or tuple(lower)
    names = ", ".join(f'"{one}"' if "," in one else one for one in lower)
    far = Choice(
        "words",
        f"{', '.join(codes)} is far from the other numbers and counts as no answer.",
        tuple(codes),
        ",".join(f"{word}=none" for word in codes),
    )
    by_name = Choice(
        "lower_is_better",
        f"Lower is taken to be better for {names}, by the name.",
        tuple(map(str, judgments.rows["criterion"].unique())),
        names,
    )
    return _tell([far] * bool(codes) + [by_name] * bool(lower), judgments, name)


def _tell(guesses: Sequence[Choice], judgments: Judgments, name: str) -> list[Choice]:
    """Add guesses to the problems, and return them as questions that need no answer."""
    judgments.problems += [
        Problem(
            name,
            0,
            "",
            f"{one.question} {f'Taken: {one.found}. ' * one.needed}"
            f"Change this with {one.name}.",
            fatal=False,
        )
        for one in guesses
    ]
    return [replace(one, needed=False) for one in guesses]


def require_ratings(found: Proposal) -> Judgments:
    """Return the ratings, or raise "choice-needed" with the columns and the questions."""
    if found.judgments is None or any(one.needed for one in found.questions):
        raise GenieError(refusal(found), code="choice-needed")
    return found.judgments


def refusal(found: Proposal) -> str:
    """Return the questions and the columns, for a person who sees no page."""
    asked = [
        f"{one.question} Answer with --choose {one.name}="
        f"{' or '.join(filter(None, {one.found: 0} | dict.fromkeys(one.options[:6]))) or 'COLUMN'}."
        for one in found.questions
        if one.needed
    ]
    listed = "; ".join(
        f"{printable(one.name)}: {one.role}, {one.reason}"
        + (
            f", such as {', '.join(map(printable, one.examples))}"
            if one.examples
            else ""
        )
        for one in found.columns
    )
    return f"{' '.join(asked)} The columns are: {listed}."


def _choose_columns(
    said: Chosen, families: Mapping[str, Column], columns: Sequence[str]
) -> list[tuple[str, Column]]:
    """Return the columns of each role that a person chose; exact names come first."""
    taken: set[str] = set()
    made: list[tuple[str, Column]] = []
    wanted = [(role, name) for role, names in said.columns.items() for name in names]
    wanted.sort(key=lambda pair: (is_pattern(pair[1]), -len(pair[1])))
    for role, name in wanted:
        if name.startswith(CONSTANT):
            continue
        fields: Mapping[str, dict[str, str]] = (
            {name: {}}
            if name in columns
            else families[name].fields
            if name in families
            else matches(name, [c for c in columns if c not in taken])
            if is_pattern(name)
            else {}
        )
        if not fields and said.may_lack:
            continue
        if not fields:
            raise GenieError(
                f"There is no column {name!r} for {role}; the columns are "
                f"{', '.join(map(printable, columns[:60]))}.",
                code="unknown-choice",
            )
        taken |= fields.keys()
        made.append((role, Column(name, dict(fields), role, "as chosen")))
    # single columns that a person chose have parts by their numbers
    measures = [one for role, one in made if said.numbers and role in MEASURES]
    single = {n: f for one in measures for n, f in one.fields.items() if not f}
    for family in group_numbers(single):
        for name, parts in family.columns.items():
            single[name] |= {"part": " ".join(parts)} if parts else {}
    return made


def _assign(
    guessed: Sequence[Column],
    fixed: Sequence[tuple[str, Column]],
    said: Chosen,
    columns: Sequence[str],
) -> list[Column]:
    examples = {name: one.examples for one in guessed for name in one.fields}
    made = [
        replace(one, examples=examples.get(next(iter(one.fields)), ()))
        for _, one in fixed
    ]
    taken = {name for one in made for name in one.fields}
    for one in guessed:
        left = {
            name: fields for name, fields in one.fields.items() if name not in taken
        }
        made.append(replace(one, fields=left))
        if one.role in said.columns and one.role != "ignore":
            made[-1].role, made[-1].reason = (
                "ignore",
                f"another column is the {one.role}",
            )
    made = [one for one in made if one.fields]
    for one in made:
        # as a chosen pattern with the same parts names them
        for part, values in _parts(one).items():
            own = [
                p for _, o in fixed for p, more in _parts(o).items() if more == values
            ]
            if own and part not in own and own[0] not in one.numbers_in_name:
                one.rename(part, own[0])
    order = {name: i for i, name in enumerate(columns)}
    listed = [name for name in said.columns.get("rating", ()) if name in order]
    order |= zip(listed, sorted(order[name] for name in listed), strict=True)
    made.sort(key=lambda one: order[next(iter(one.fields))])
    # as a person answered
    rated = [one for one in made if one.role in MEASURES]
    for one in rated:
        if said.numbers and len(parts := one.numbers_in_name) == 1:
            one.rename(parts[0], NAMED[said.numbers])
    if rated and said.names not in ("", "criteria"):
        name_by_words(rated, NAMED[said.names])
    if said.numbers:
        leave_unnamed(made)
    return made


def _parts(column: Column) -> dict[str, frozenset[str]]:
    return {
        part: frozenset(fields[part] for fields in column.fields.values())
        for part in column.numbers_in_name
        if len(column.fields) > 1
    }
