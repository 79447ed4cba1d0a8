"""A mapping: what the columns of rating files say, as a person chose or confirmed it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.files import open_file
from leaderboard.imports.readers.judgments import Role

#: The layout of files that are read by the roles of their columns.
SLUG = "columns"
#: Roles of columns, and what each means on a page.
ROLES: Mapping[str, str] = {
    "system": "system",
    "system 1": "first system of a pair",
    "system 2": "second system of a pair",
    "item": "item (what was judged)",
    "rater": "rater (who judged)",
    "rating": "rating, by criterion",
    "criterion": "name of the criterion",
    "choice": "choice between two systems",
    "best": "best of several",
    "worst": "worst of several",
    "text": "text of the system",
    "text 1": "text of the first system",
    "text 2": "text of the second system",
    "source": "source (what the system was given)",
    "reference": "reference",
    "time": "time of the answer",
    "began": "time at which the page was opened",
    "seconds": "seconds the answer took",
    "order": "place on the page",
    "page": "page (outputs judged together)",
    "document": "document",
    "kind": "kind of row (test question, practice, …)",
    "counts": "yes or no: does the row count?",
    "ignore": "ignored",
}
#: Other answers: `words` are numbers or sides of words, for all criteria or one;
#: `names` is what names of rating columns say; `ranks` is the criterion that ranks;
#: with `labels`, words without a number stay words, by which nothing is ranked; with
#: `raw`, z-scores are made raw scores by the columns mean and sd of a table of raters.
ANSWERS = (
    "words",
    "names",
    "ranks",
    "lower_is_better",
    "lost",
    "numbers",
    "within",
    "split",
    "labels",
    "counted",
    "standardised",
    "raw",
    "scale",
)
#: Answers about the shape of files, which `shapes` explains.
SHAPES = ("when", "unless", "files", "set", "header", "rows", "cells", "numbered")
#: What names or numbers of columns can say, and the part of a pattern for it.
NAMED = {
    "criteria": "criterion",
    "systems": "system",
    "raters": "rater",
    "items": "item",
}
# Before a name: it is no column, and holds for all rows.
CONSTANT = ":"
#: Ranks by each criterion.
EACH = "*"
SIDES = ("first", "second", "tie")
_PART = re.compile(r'(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))')


@dataclass(frozen=True)
class Chosen:
    """The answers of a person or of a mapping file; what is not answered is guessed.

    Parameters
    ----------
    columns : dict of str to tuple of str
        Role -> columns or patterns such as `{system}_{criterion}`; none: no such column.
        A text after a colon holds for all rows.
    words : dict of str to dict of str to float or str
        Criterion, or "*" for all -> word in small letters -> number, or one of `SIDES`.
        Of a column with kinds of rows: word -> kind, such as "cancelled".
    counted : tuple of Role
        Kinds of rows that count.
    may_lack : bool
        Whether columns may be missing, since `when` lists those that may not.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    names: str = ""
    numbers: str = ""
    ranks: str = ""
    lower_is_better: tuple[str, ...] = ()
    lost: bool = False
    split: bool = False
    split_answered: bool = False
    labels: bool = False
    counted: tuple[Role, ...] = (Role.JUDGMENT,)
    standardised: bool = False
    raw: bool = False
    scale: str = ""
    after: str = ""
    may_lack: bool = False

    def constant(self, role: str) -> str:
        """Return what holds for all rows, "" if nothing does."""
        found = [n for n in self.columns.get(role, ()) if n.startswith(CONSTANT)]
        return found[0].removeprefix(CONSTANT).strip() if found else ""


def read_choices(choices: Mapping[str, Any], columns: Iterable[str] = ()) -> Chosen:
    """Read choices as a file, a page or a command has them.

    Columns are a list, or a text with commas between them. Raises "unknown-choice" for a
    name that is neither a role nor another answer, and lists `columns`.
    """
    known_names = (*ROLES, *ANSWERS, *SHAPES)
    if unknown := set(choices) - {*known_names}:
        raise GenieError(
            f"{sorted(unknown)[0]!r} is no role; choose {', '.join(known_names)}.",
            code="unknown-choice",
        )
    known = set(columns)
    found = {
        role: split_names(choices[role], known)
        for role in ROLES
        if choices.get(role) is not None
    }
    for name in ("names", "numbers"):
        if choices.get(name) and choices[name] not in NAMED:
            raise GenieError(
                f"{name} is one of {', '.join(NAMED)}, not {choices[name]!r}.",
                code="unknown-choice",
            )
    return Chosen(
        found,
        read_words(choices.get("words") or {}),
        str(choices.get("names") or ""),
        str(choices.get("numbers") or ""),
        str(choices.get("ranks") or ""),
        split_names(choices.get("lower_is_better") or (), set()),
        _yes(choices.get("lost")),
        _yes(choices.get("split")),
        bool(choices.get("split")),
        _yes(choices.get("labels")),
        tuple(map(Role, split_names(choices.get("counted") or Role.JUDGMENT, set()))),
        _yes(choices.get("standardised")),
        _yes(choices.get("raw")),
        str(choices.get("scale") or ""),
        str(choices.get("split") or "").removeprefix("after ")[-1:]
        * str(choices.get("split") or "").startswith("after "),
        "when" in choices,
    )


def _yes(answer: Any) -> bool:
    return str(answer or "").lower() in ("yes", "true")


def split_names(value: Any, known: set[str]) -> tuple[str, ...]:
    """Return the columns in a list, or in a text with commas between them."""
    if not isinstance(value, str):
        return tuple(map(str, value))
    if value in known or value.startswith(CONSTANT):
        return (value,)
    return tuple(_split(value))


def _split(value: str) -> Iterator[str]:
    """Yield what is between commas; quotation marks around a part keep its commas."""
    for quoted, plain in _PART.findall(value):
        if part := (quoted.replace('""', '"') or plain).strip():
            yield part


def read_words(value: Any) -> dict[str, dict[str, float | str]]:
    """Read `{"good": 2, "overall": {"bad": 1}}` or "good=2, overall: bad=1"."""
    if isinstance(value, str):
        made: dict[str, Any] = {}
        for part in _split(value):
            word, equals, number = part.rpartition("=")
            if not equals:
                raise GenieError(
                    f"words takes WORD=NUMBER, not {part!r}.", code="unknown-choice"
                )
            criterion, colon, rest = word.partition(": ")
            table = made.setdefault(criterion, {}) if colon else made
            table[rest if colon else word] = number
        value = made
    tables = {
        word: table for word, table in value.items() if isinstance(table, Mapping)
    }
    for_all = {word: worth for word, worth in value.items() if word not in tables}
    tables["*"] = {**tables.get("*", {}), **for_all}
    return {
        of: {
            " ".join(word.lower().split()): _worth(word, w) for word, w in table.items()
        }
        for of, table in tables.items()
    }


def add_words(said: Any, guessed: str) -> dict[str, dict[str, float | str]]:
    """Return the worths of words by criterion: as said, else as guessed."""
    known, tables = read_words(said or {}), read_words(guessed)
    return {of: tables.get(of, {}) | known.get(of, {}) for of in {**tables, **known}}


def _worth(word: str, worth: Any) -> float | str:
    if worth in (*SIDES, "none", *Role):
        return str(worth)
    try:
        return float(worth)
    except (TypeError, ValueError):
        raise GenieError(
            f"The word {word!r} is worth a number, {', '.join(SIDES)} or none, not "
            f"{worth!r}.",
            code="unknown-choice",
        ) from None


def from_toml(path: Path) -> dict[str, Any]:
    """Read a mapping file.

    Raises "unreadable-file" or "not-a-mapping".
    """
    with open_file(path) as file:
        return parse(file.read(), path.name)


def parse(data: bytes, name: str) -> dict[str, Any]:
    """Read the content of a mapping file, as values of JSON.

    Raises "not-a-mapping".
    """
    try:
        text = json.dumps(tomllib.loads(data.decode("utf-8-sig")), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GenieError(
            f"{name} is no mapping: {error}.", code="not-a-mapping"
        ) from error
    found: dict[str, Any] = json.loads(text.replace("\\u0000", "\\ufffd"))
    return found


def to_toml(choices: Mapping[str, Any]) -> str:
    """Return choices as a mapping file."""
    return "\n".join(_lines(choices)) + "\n"


def _lines(table: Mapping[str, Any], *path: str) -> Iterator[str]:
    if path:
        yield from ("", f"[{'.'.join(map(_quote, path))}]")
    for key, value in sorted(
        table.items(), key=lambda item: isinstance(item[1], Mapping)
    ):
        if isinstance(value, Mapping):
            yield from _lines(value, *path, key)
        else:
            yield f"{_quote(key)} = {_value(value)}"


def _quote(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
