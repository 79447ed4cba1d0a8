"""Families of columns: what the numbers and words in their names say."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import (
    numbers,
)
from leaderboard.imports.readers.patterns import (
    NUMBERED,
    Family,
    cross,
    group_numbers,
    keys_in,
)
from leaderboard.imports.readers.values import (
    CHOICE,
    FILLERS,
    MEASURES,
    RATER,
    RATING,
    UNMARKED,
    UNNAMED,
    WORDS,
    Guess,
    Values,
    examples_of,
    lower_words,
    word_set,
)
from leaderboard.imports.readers.words import name_one_of, side_of


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

    @property
    def numbered(self) -> list[str]:
        """The parts of a family's names that are numbers, as a rule."""
        parts = [part for part in NUMBERED if part in next(iter(self.fields.values()))]
        return sorted(parts, key=lambda part: self.name.find(f"{{{part}"))

    def rename(self, part: str, wanted: str) -> None:
        """Name a part of the names of a family's columns differently."""
        for end in ("}", "*}"):
            self.name = self.name.replace(f"{{{part}{end}", f"{{{wanted}{end}")
        for fields in self.fields.values():
            fields |= {wanted: fields.pop(part)} if part in fields else {}


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
        words = [k for k in range(n) if not family.is_numbered(k)]
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
        has_item = "item" in self._roles
        rated = has_item and (word in RATING or path.endswith("["))
        if "rater" in self._roles or not (rated or word in _OF_RATERS):
            options = ["part"] if has_item else ["item", "part"]
        return next((one for one in options if one not in names), "")


_SIDE_WORD = re.compile(r"(?<![^\W_])(a|b|1|2|left|right|first|second)(?![^\W_])", re.I)
_LOSERS = word_set("loser lost loses worse worst rejected")
_MOST_NAMES = 50
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
    return between and not family.is_numbered(k)


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


def find_pairs(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Find choices, and the two systems, by cells that name one of the two in each row."""
    short = [n for n, one in values.items() if 1 < len(one.counts) <= _MOST_NAMES]
    choices = [n for n in short if n not in fixed and not values[n].is_number
               and not values[n].says(_LOSERS)]  # fmt: skip
    named = [name for name in choices if values[name].says(CHOICE)]

    def is_of(choice: str, first: str, second: str) -> bool:
        return name_one_of(*(values[name].words for name in (choice, first, second)))

    sides = [[n for n, (r, _) in found.items() if r == f"system {k}"] for k in (1, 2)]
    if not any(sides):
        free = {n: values[n].counts.keys() for n in short if n not in fixed}
        free = {n: words for n, words in free.items() if not values[n].is_number}
        alike = [(c, n) for c in named for n in free if n != c and free[n] & free[c]]
        pairs = [
            [[first], [second]]
            for (choice, first), (same, second) in combinations(alike, 2)
            if choice == same and is_of(choice, first, second)
        ]
        by_rest: dict[str, list[str]] = {}
        for name in free:
            by_rest.setdefault(_SIDE_WORD.sub("", name), []).append(name)
        twos = [two for two in by_rest.values() if len(two) == 2]
        pairs += [[[a], [b]] for a, b in twos if _are_sides(values[a], values[b])]
        # the other of the two may have no column
        pairs += [[[], [n]] for c, n in alike if _has_other(values[c], values[n])]
        sides = next(iter(pairs), sides)
        for k, names in enumerate(sides, 1):
            why = f"system {k}", "one of the two that are named"
            found |= dict.fromkeys(names, why)
    if [len(names) for names in sides] == [1, 1]:
        first, second = sides[0][0], sides[1][0]
        for group in (named, choices):
            fitting = [
                n for n in group if n not in (first, second) and is_of(n, first, second)
            ]
            found |= dict.fromkeys(fitting, ("choice", f"it names {first} or {second}"))
            if fitting:
                return
        numbered = [
            name
            for name in short
            if values[name].is_number
            and name not in fixed
            and (found[name][0] == "rating" or found[name][1].endswith(UNNAMED))
            and not any(role == "choice" for role, _ in found.values())
        ]
        signed = [
            n for n in numbered if min(values[n].numbers) < 0 < max(values[n].numbers)
        ]
        for name in [n for n in numbered if values[n].says(CHOICE)] or signed:
            found[name] = "choice", f"{found[name][1]}, beside two systems"


def _are_sides(one: Values, other: Values) -> bool:
    """Check for few names, of which each row has two, as `hyp_a_id` and `hyp_b_id`."""
    few = 4 * len(one.counts | other.counts) <= len(one.words)
    rows = zip(one.words, other.words, strict=True)
    return few and bool(one.counts & other.counts) and all(a != b for a, b in rows)


def _has_other(choice: Values, one: Values) -> bool:
    """Check that each word is the row's name, a tie, or a name without a column."""
    rows = zip(choice.words, one.words, strict=True)
    left = {w for w, name in rows if w not in ("", name) and side_of(w) != 0.5}
    return 0 < len(left) < 3 and not left & one.counts.keys()


def ask_fillers(
    made: Sequence[Column], values: Mapping[str, Values]
) -> Iterator[Choice]:
    """Ask whether ratings count beside texts that only fill places, such as BLANK."""
    numbered = {
        frozenset(fields[part] for fields in one.fields.values())
        for one in made
        for part in next(iter(one.fields.values()))
        if one.role in MEASURES
    }
    others = [name for one in made if one.role not in MEASURES for name in one.fields]
    for family in group_numbers(others):
        places = range(family.template.count("{}"))
        same = [k for k in places if frozenset(family.values(k)) in numbered]
        counts = Counter(word for name in family.columns for word in values[name].words)
        fillers = [word for word in counts if word.strip().lower() in FILLERS]
        if len(same) == 1 and fillers and "counts" not in {one.role for one in made}:
            pattern = family.pattern(["part" if k in same else "" for k in places])
            yield Choice(
                "counts",
                f"{counts[fillers[0]]:,} texts of {pattern} are {fillers[0]}. Which column "
                f"decides whether a rating counts (:yes counts all)?",
                (pattern, ":yes"),
                pattern,
                needed=True,
            )


def leave_derived(made: Sequence[Column], values: Mapping[str, Values]) -> None:
    """Ignore columns that are the means of others, by name or by value."""
    measures = [one for one in made if one.role == "rating"]
    for one in measures:
        for other in measures:
            if len(other.fields) <= len(one.fields):
                continue
            if _is_mean_of(one, other, values):
                one.role, one.reason = "ignore", f"the mean of {other.name}"
                if len(one.fields) == 1 and "rater" not in other.name:
                    other.rename("part" if "{part" in other.name else "item", "rater")


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
            if n.startswith(name) or fields.items() < more.items()
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
