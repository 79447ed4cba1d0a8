"""Families of columns: what the numbers and words in their names say."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.imports.readers.names import (
    numbers,
)
from leaderboard.imports.readers.patterns import Family, cross, group_numbers, keys_in
from leaderboard.imports.readers.values import (
    MEASURES,
    RATER,
    RATING,
    UNMARKED,
    WORDS,
    Guess,
    Values,
    examples_of,
    lower_words,
    word_set,
)


@dataclass
class Column:
    """A column, or a family of columns, with the guess of its role.

    `fields` has, for each column of a family, what its name says: the system, the
    criterion, ... `reason` is a few words, and `examples` up to three values.
    """

    name: str
    fields: dict[str, dict[str, str]]
    role: str
    reason: str
    examples: tuple[str, ...] = ()


def families_of(
    found: Mapping[str, Guess], values: Mapping[str, Values]
) -> list[Column]:
    """Join columns whose names differ in numbers or words, and name what these are."""
    by_role: dict[str, list[str]] = {}
    for name, (role, _) in found.items():
        by_role.setdefault(role, []).append(name)
    context, measures = [], []
    keys = keys_in([name for name, (role, _) in found.items() if role != "ignore"])
    for role, names in by_role.items():
        families = group_numbers(names, keys)
        if role == "rating" and not {"system", "system 1"} & by_role.keys():
            joined = cross(families)
            inside = {name for one in joined for name in one.columns}
            families = [f for f in families if not inside & set(f.columns)] + joined
        if role in MEASURES:
            measures += families
        elif role != "ignore":
            context += families
    named = Slots(context, measures, set(by_role))
    made = [_column(f, named.names(f), found, values) for f in (*context, *measures)]
    for name in by_role.get("ignore", ()):
        made.append(Column(name, {name: {}}, *found[name], examples_of(values[name])))
    order = {name: i for i, name in enumerate(found)}
    return sorted(made, key=lambda one: order[next(iter(one.fields))])


class Slots:
    """Names of the numbers in families: the same where the same things are numbered.

    Numbers are the same if what is before them in the name is, as in `turns[1].text` and
    `turns[1].score`, or if there are the same ones, as in `text1` and `score1`.
    """

    def __init__(
        self, context: Sequence[Family], measures: Sequence[Family], roles: set[str]
    ) -> None:
        self._roles = roles
        self._parts: dict[str, str] = {}
        self._values: dict[frozenset[str], str] = {}
        for family in context:
            for k in range(family.template.count("{}")):
                if not _is_key(family, k):
                    self._part(family, k)

    def _part(self, family: Family, k: int) -> str:
        path = "{}".join(family.template.split("{}")[: k + 1])
        key = path if path.endswith("[") else ""
        numbers_ = frozenset(family.values(k))
        name = self._parts.get(key, "") if key else self._values.get(numbers_, "")
        if not name:
            taken = {*self._parts.values(), *self._values.values()}
            name = next(
                (one for one in ("part", "part2", "part3") if one not in taken), ""
            )
        if key:
            self._parts[key] = name
        self._values.setdefault(numbers_, name)
        return name

    def names(self, family: Family) -> list[str]:
        n = family.template.count("{}")
        names = [""] * n
        words = [k for k in range(n) if not all(p.isdigit() for p in family.values(k))]
        keys = [k for k in words if _is_key(family, k)]
        for k in keys:
            names[k] = "criterion" if _are_criteria(family.values(k)) else "system"
        _name_words(family, [k for k in words if k not in keys], names)
        for k in range(n):
            if k not in words:
                names[k] = self._number(family, k, names)
        return names

    def _number(self, family: Family, k: int, names: Sequence[str]) -> str:
        path = "{}".join(family.template.split("{}")[: k + 1])
        known = self._parts.get(path) if path.endswith("[") else ""
        known = known or self._values.get(frozenset(family.values(k)), "")
        if known and known not in names:
            return known
        word = (WORDS.findall(path) or [""])[-1].lower()
        options = ["rater", "item", "part"]
        if "rater" in self._roles or (
            word not in _OF_RATERS and "item" not in self._roles
        ):
            options = ["item", "part"] if "item" not in self._roles else ["part"]
        return next((one for one in options if one not in names), "")


_OF_RATERS = RATER | word_set("winner rating score label choice vote preference")


def _name_words(family: Family, words: Sequence[int], names: list[str]) -> None:
    if not words:
        return
    known = {
        k: sum(not RATING.isdisjoint(lower_words(p)) for p in family.values(k))
        / len(family.values(k))
        for k in words
    }
    criterion = max(words, key=lambda k: (known[k], k))
    if family.template == "{}":
        names[criterion] = "item"  # columns named by hashes
        return
    names[criterion] = "criterion"
    for k in words:
        if k != criterion:
            names[k] = "system" if "system" not in names else ""


def _is_key(family: Family, k: int) -> bool:
    """Check whether a place has the keys of an object, and not numbers."""
    around = family.template.split("{}")
    between = around[k].endswith(".") and around[k + 1][:1] == "."
    return between and not all(part.isdigit() for part in family.values(k))


def _are_criteria(words: Collection[str]) -> bool:
    rated = sum(not RATING.isdisjoint(lower_words(word)) for word in words)
    return rated > len(words) / 2


def _column(
    family: Family,
    names: list[str],
    found: Mapping[str, Guess],
    values: Mapping[str, Values],
) -> Column:
    first = next(iter(family.columns))
    role, reason = found[first]
    if len(family.columns) > 1:
        reason = f"{reason} ({len(family.columns):,} columns)"
        if role in MEASURES and (marked := _is_marked(family, values)):
            # one of several cells of a row is filled: its number or word is the answer
            last = len(names) - 1
            names[last] = "value" if marked == "name" else ""
    pattern = family.pattern(names) if names else first
    fields = {
        name: {f: p for f, p in zip(names, parts, strict=True) if f}
        for name, parts in family.columns.items()
    }
    return Column(pattern, fields, role, reason, examples_of(values[first]))


def _is_marked(family: Family, values: Mapping[str, Values]) -> str:
    """Return "cell" or "name" if each row has one answer in several columns."""
    if len({parts[:-1] for parts in family.columns.values()}) > 1:
        groups: dict[Any, list[str]] = {}
        for name, parts in family.columns.items():
            groups.setdefault(parts[:-1], []).append(name)
    else:
        groups = {(): list(family.columns)}
    for names in groups.values():
        cells = [[w for w in row if w.strip().lower() not in UNMARKED] for row in zip(
            *(values[name].words for name in names), strict=True
        )]  # fmt: skip
        if len(names) < 3 or any(len(row) > 1 for row in cells) or not any(cells):
            return ""
    own = [name for name in family.columns if values[name].answers]
    same = all(
        {*values[name].counts} <= {"1", "true", "True", "on", "1.0"} | UNMARKED
        for name in own
    )
    return "name" if same and len(own) > 1 else "cell"


def leave_derived(made: Sequence[Column], values: Mapping[str, Values]) -> None:
    """Ignore columns that are the means of others, by name or by value."""
    measures = [one for one in made if one.role == "rating"]
    for one in measures:
        for other in measures:
            if len(other.fields) <= len(one.fields):
                continue
            if _is_mean_of(one, other, values):
                one.role, one.reason = "ignore", f"the mean of {other.name}"


def leave_unnamed(made: Sequence[Column]) -> None:
    """Ignore ratings of no system where the names of most say theirs."""
    measures = [one for one in made if one.role == "rating"]
    named = [one for one in measures if "system" in next(iter(one.fields.values()))]
    n = sum(len(one.fields) for one in named)
    if any(one.role == "system" for one in made) or 2 * n < sum(
        len(o.fields) for o in measures
    ):
        return
    for one in measures:
        if named and one not in named:
            one.role, one.reason = (
                "ignore",
                "its name says no system, and others' names do",
            )


def _is_mean_of(one: Column, other: Column, values: Mapping[str, Values]) -> bool:
    n_near = 0
    for name, fields in one.fields.items():
        parts = [
            numbers(values[n].words)
            for n, more in other.fields.items()
            if n.startswith(name) or (fields and fields.items() < more.items())
        ]
        if len(parts) < 2:
            return False
        own = numbers(values[name].words)
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            means = np.nanmean(parts, axis=0)
        known = ~np.isnan(own) & ~np.isnan(means)
        n_near += bool(known.any()) and bool(
            (np.abs(own - means)[known] < 0.01).mean() > 0.7
        )
    return n_near > len(one.fields) / 2
