"""Guess the roles of a table's columns from their names and values."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.imports.readers.families import (
    Column,
    ask_fillers,
    families_of,
    find_pairs,
    leave_derived,
    leave_unnamed,
)
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import (
    Floats,
)
from leaderboard.imports.readers.patterns import Family, cross, group_numbers, keys_in
from leaderboard.imports.readers.values import (
    COUNTED,
    LONG,
    MEASURES,
    MOST_VALUES,
    NAMED_ID,
    NO_WORDS,
    OF_FILE,
    UNNAMED,
    Guess,
    Values,
    examples_of,
    is_group,
    role_of,
    word_set,
)
from leaderboard.imports.readers.words import is_sided

_SIDE = re.compile(
    r"[ _.-]?(a|b|1|2|left|right|first|second)$|(?<![a-z])(left|right|first|second)[ _]",
    re.IGNORECASE,
)


_FIRST = ("a", "1", "left", "first")


def guess_roles(
    columns: Mapping[str, Sequence[str]], fixed: Mapping[str, str]
) -> tuple[list[Column], list[Choice]]:
    """Return the columns and families of a table with their roles, and open questions.

    `columns` are the words of each, and `fixed` the roles that a person chose.
    """
    values = {
        name: Values(name, list(words[:MOST_VALUES])) for name, words in columns.items()
    }
    found = {
        name: (fixed[name], "as chosen") if name in fixed else role_of(one)
        for name, one in values.items()
    }
    _agree(found, values, fixed)
    _prefer_named(found, values)
    _pair(found, fixed)
    find_pairs(found, values, fixed)
    _settle(found, values, fixed)
    made = families_of(found, values)
    leave_derived(made, values)
    leave_unnamed(made)
    return made, [*_tell_apart(made, values, fixed), *ask_fillers(made, values)]


def _agree(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Assign one role to columns whose names differ in numbers the role of most of them."""
    families = group_numbers(found)
    for family in (*families, *cross(families)):
        names = [n for n in family.columns if values[n].answers and n not in fixed]
        if len(names) < 2:
            continue
        roles = Counter(found[name][0] for name in names)
        best, n = max(roles.items(), key=lambda pair: (pair[1], pair[0] in MEASURES))
        rated = roles["rating"] + roles["maybe"]
        if rated >= max(2, len(names) / 2):
            best = "rating" if roles["rating"] else "maybe"
        elif family not in families or n < len(names) / 2:
            continue
        reason = next(found[name][1] for name in names if found[name][0] == best)
        for name in family.columns:
            # a short word in a name, such as n, may be part of a table of names
            counted = (
                found[name][1].startswith("numbers named")
                and (family not in families or best == "maybe")
                and min(map(len, set(values[name].name_words) & COUNTED)) > 2
            )
            if name not in fixed and not counted and found[name][0] not in _OWN:
                found[name] = best, reason
    _join_neighbours(found, values)
    _join_siblings(found, values)


# Roles that a column keeps, whatever others are.
_OWN = ("rater", "system", "text")


def _join_neighbours(found: dict[str, Guess], values: Mapping[str, Values]) -> None:
    """Take numbers beside ratings for ratings if they are of the same scale."""
    listed = list(found)
    for names in (listed, listed[::-1]):
        for before, name in itertools.pairwise(names):
            if found[before][0] == "rating" and found[name][0] == "maybe":
                one, other = values[name].numbers, values[before].numbers
                if len(np.unique(one)) > 2 and _ends(one) == _ends(other):
                    found[name] = "rating", f"numbers as in {before}"


def _join_siblings(found: dict[str, Guess], values: Mapping[str, Values]) -> None:
    """Take numbers for ratings if columns of the same numbers are."""
    by_numbers: dict[Any, list[Family]] = {}
    for family in group_numbers(found):
        if len(family.columns) > 2:
            by_numbers.setdefault(frozenset(family.columns.values()), []).append(family)
    for families in by_numbers.values():
        roles = [found[next(iter(family.columns))][0] for family in families]
        if "rating" in roles:
            for family in families:
                for name in family.columns:
                    any_number = bool((~np.isnan(values[name].numbers)).any())
                    if found[name][0] == "maybe" or (
                        found[name][1] == NO_WORDS and any_number
                    ):
                        found[name] = "rating", "numbered as other ratings are"


def _ends(numbers_: Floats) -> tuple[float, float]:
    return float(np.nanmin(numbers_)), float(np.nanmax(numbers_))


def _prefer_named(found: dict[str, Guess], values: Mapping[str, Values]) -> None:
    """Take other numbers, or words, for ratings if no numbers are named as such."""
    roles = {role for role, _ in found.values()}
    alike = _on_their_scale(found, values) if "choice" not in roles else set()
    families = [f for f in group_numbers(found) if len(f.columns) >= 5]
    many = {n for f in families for n in f.columns if found[n][0] == "maybe"}
    numbers_, words = (
        roles & {"rating", "choice"},
        roles & {"rating", "choice", "words"},
    )
    for name, (role, reason) in found.items():
        if role == "words":
            found[name] = (
                ("ignore", f"{reason}; numbers, or a choice, are ratings here")
                if numbers_
                else ("rating", reason)
            )
        elif role == "maybe":
            found[name] = (
                ("rating", f"numbers on the scale of ratings; {reason}")
                if name in alike
                else ("ignore", f"{reason}{UNNAMED}")
                if words
                else ("ignore", f"{reason}, but many others belong together")
                if many and name not in many
                else ("rating", reason)
            )


def _on_their_scale(
    found: Mapping[str, Guess], values: Mapping[str, Values]
) -> set[str]:
    """Return other columns of whole numbers on the scale of those named as ratings."""
    several = {
        name: (role, *_ends(values[name].numbers), values[name].numbers)
        for name, (role, _) in found.items()
        if role in ("rating", "maybe") and len(np.unique(values[name].numbers)) > 2
    }
    named = [ends for role, *ends, _ in several.values() if role == "rating"]
    low, high = min([1, *(a for a, _ in named)]), max([5, *(b for _, b in named)])
    return {
        name
        for name, (role, least, most, own) in several.items()
        if role == "maybe" and low <= least and most <= high <= 10 and named
        and (own[~np.isnan(own)] % 1 == 0).all()
    }  # fmt: skip


def _pair(found: dict[str, Guess], fixed: Mapping[str, str]) -> None:
    """Find the two sides of systems and texts: `model_a` and `model_b`."""
    of_many = {n for f in group_numbers(found) if len(f.columns) > 2 for n in f.columns}
    of_many = {name for name in of_many if not _numbered_side(name, found)}
    for role in ("system", "text"):
        sided: dict[tuple[str, str], str] = {}
        for name, (guessed, _) in found.items():
            stem = re.sub(r"\d+$", "", name) if _numbered_side(name, found) else name
            side = _SIDE.search(stem) or re.search(r"(?<=[a-z])([ab])$", stem)
            if guessed == role and side and name not in of_many:
                rest = stem[: side.start()] + stem[side.end() :] + name[len(stem) :]
                word = next(filter(None, side.groups())).lower()
                place = "1" if word in _FIRST else "2"
                sided[rest, place] = name
        for (rest, place), name in sided.items():
            other = sided.get((rest, "2" if place == "1" else "1"))
            more = sum(key[0] == rest for key in sided)
            alone = name in fixed or _is_rated(name, found)
            if other and more == 2 and not alone:
                found[name] = (f"{role} {place}", f"by its name, beside {other}")


def _is_rated(name: str, found: Mapping[str, Guess]) -> bool:
    """Check for a number that a rating has, too: `sys1` beside `naturalness1`."""
    number = re.search(r"\d+$", name)
    rated = [other for other, (role, _) in found.items() if role == "rating"]
    return number is not None and any(
        re.fullmatch(rf".*?\D{number[0]}", other, re.DOTALL) for other in rated
    )


def _numbered_side(name: str, found: Mapping[str, Guess]) -> bool:
    """Check for a name such as `systema3` whose letter is the side."""
    letter = re.search(r"([abAB])(\d+)$", name)
    other = {"a": "b", "b": "a", "A": "B", "B": "A"}
    return bool(
        letter and f"{name[: letter.start()]}{other[letter[1]]}{letter[2]}" in found
    )


def _settle(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Make the roles of columns fit together."""
    guessed = {name: role for name, (role, _) in found.items()}
    roles = set(guessed.values())
    if {"system 1", "system 2"} <= roles:
        _settle_pairs(found, values, fixed, "choice" in roles)
    elif "choice" in roles:
        for name, role in guessed.items():
            if role == "choice" and name not in fixed and "rating" in roles:
                found[name] = "ignore", "no columns name two systems"
    _settle_ends(found, values, fixed)
    for role, key in _LIKELIEST.items():
        _only_one(found, values, role, key, fixed)
    roles = {role for role, _ in found.values()}
    if "item" not in roles:
        for name, (role, reason) in found.items():
            if role == "ignore" and reason == NAMED_ID and is_group(values[name]):
                found[name] = (
                    "item",
                    "by its name, as no other column names what was judged",
                )
                roles.add("item")
                break
    if "item" not in roles:
        for name, (role, _) in found.items():
            if role in ("source", "document") and len(values[name].counts) > 1:
                found[name] = "item", f"no other column names what was judged ({role})"
                break
    numbered_ = any(len(f.columns) > 2 for f in group_numbers(
        [name for name, (role, _) in found.items() if role in MEASURES]
    ))  # fmt: skip
    if numbered_ and not roles & {"rater", "system", "text", "source"}:
        for name, (role, _) in found.items():
            if (
                role == "item"
                and values[name].name_words == ["id"]
                and name not in fixed
            ):
                found[name] = "rater", "each row has numbered ratings, as of one person"


_MAY_BE_ENDS = ("choice", "words", "ignore", "rating")
_ENDS = {"best": word_set("best most"), "worst": word_set("worst least")}


def _settle_ends(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Find the best and the worst of several, by words or first letters of names."""
    free = [name for name, (role, _) in found.items() if role in _MAY_BE_ENDS]
    named: dict[str, Iterable[str]] = {}
    by_rest: list[dict[str, str]] = []
    for role, words in _ENDS.items():
        fitting = [
            name
            for name in free
            if values[name].says(words)
            and (not values[name].is_number or name in fixed)
        ]
        if fitting:
            named[role] = group_numbers(fitting)[0].columns
        by_rest.append({n[1:]: n for n in free if n[:1].lower() == role[0]})
    if len(named) < 2:
        # `BH1` and `WH1` name two texts, never the same
        rests = [rest for rest in by_rest[0] if rest in by_rest[1]]
        named = {
            role: [one[rest] for rest in rests]
            for role, one in zip(_ENDS, by_rest, strict=True)
        }
        ends = [[w for n in names for w in values[n].words] for names in named.values()]
        rows = [row for row in zip(*ends, strict=True) if all(row)]
        if (
            len(rests) < 2
            or len(rows) < 10
            or any(best == worst for best, worst in rows)
        ):
            return
    for role, names in named.items():
        for name in names:
            found[name] = role, "by its name, beside the other end"


def _settle_pairs(
    found: dict[str, Guess],
    values: Mapping[str, Values],
    fixed: Mapping[str, str],
    chosen: bool,
) -> None:
    for name, (role, _) in list(found.items()):
        one = values[name]
        if name in fixed:
            continue
        if role in ("rating", "ignore") and not chosen:
            if len(one.counts) > 1 and is_sided(one.counts, only=True):
                reason = f"words for two sides: {', '.join(examples_of(one))}"
                family = next(f for f in group_numbers(found) if name in f.columns)
                for other in family.columns:
                    if not values[other].counts or is_sided(
                        values[other].counts, only=True
                    ):
                        found[other] = "choice", reason
        elif role == "system":
            found[name] = "ignore", "the two systems of a pair are in other columns"
    if not any(role == "choice" for role, _ in found.values()):
        sides = [name for name, (role, _) in found.items() if role == "system 1"]
        numbers_ = {tuple(re.findall(r"\d+", name)) for name in sides}
        for name, (role, reason) in list(found.items()):
            few = 1 < len(values[name].counts) <= 4
            if role == "rating" and few and tuple(re.findall(r"\d+", name)) in numbers_:
                found[name] = "choice", f"{reason}, beside two systems"
    if any(role == "choice" for role, _ in found.values()):
        for name, (role, _) in found.items():
            if role == "rating" and name not in fixed:
                found[name] = "ignore", "another column has the choice"


def _likely_item(one: Values) -> float:
    # an id that names an item is likelier than one of a row
    return (one.name_words == ["id"]) + (len(one.counts) == len(one.answers)) / 2


_LIKELIEST: Mapping[str, Callable[[Values], float]] = {
    "item": _likely_item,
    "rater": lambda one: -len(one.answers),
    "system": lambda one: len(one.name_words),
    **dict.fromkeys(
        ("document", "time", "began", "seconds", "criterion"), lambda one: 0
    ),
}


def _only_one(
    found: dict[str, Guess],
    values: Mapping[str, Values],
    role: str,
    key: Callable[[Values], float],
    fixed: Mapping[str, str],
) -> None:
    """Keep the likeliest column of a role; those of one family stay together."""
    named = [name for name, (guessed, _) in found.items() if guessed == role]
    if len(named) < 2 or role in fixed.values():
        for name in named:
            if role in fixed.values() and name not in fixed:
                found[name] = "ignore", f"another column is the {role}"
        return
    best = min(named, key=lambda name: key(values[name]))
    families = group_numbers(named, keys_in(list(found)))
    same = next(family.columns for family in families if best in family.columns)
    for name in named:
        if name not in same:
            found[name] = "ignore", f"{best} is likelier the {role}"


def _tell_apart(
    made: list[Column], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> list[Choice]:
    """Find columns that tell apart rows that else would repeat each other."""
    roles = {one.role for one in made}
    if not roles & set(MEASURES):
        return []
    key = ("system", "system 1", "system 2", "item", "rater", "criterion")
    names = [
        name
        for one in made
        if one.role in key and len(one.fields) == 1
        for name in one.fields
    ]
    n = len(next(iter(values.values())).words) if values else 0
    if not roles & {"system", "system 1"} and not _says_system(made):
        return []
    if not names or _n_different(names, values) >= 0.99 * n:
        return []
    others = [
        next(iter(one.fields))
        for one in made
        if one.role == "ignore" and len(one.fields) == 1 and len(fixed) < 99
        and 1 < len(values[next(iter(one.fields))].counts) <= max(n / 2, 2)
        and values[next(iter(one.fields))].length < LONG
    ]  # fmt: skip
    if not roles & {"item", "rater"}:
        return (
            _of_several(made, values, names, others, n)
            if "system" not in fixed.values()
            else []
        )
    if any("rater" in fields for one in made for fields in one.fields.values()):
        roles.add("rater")
    better = [o for o in others if _n_different([*names, o], values) >= 0.99 * n]
    better.sort(
        key=lambda name: (
            name in OF_FILE,
            not values[name].says(word_set("turn sentence segment part round session")),
        )
    )
    return _use(made, better, roles, fixed, values)


def _says_system(made: Sequence[Column]) -> bool:
    return any("system" in f for one in made for f in one.fields.values())


def _use(
    made: Sequence[Column],
    better: Sequence[str],
    roles: set[str],
    fixed: Mapping[str, str],
    values: Mapping[str, Values],
) -> list[Choice]:
    by_name = {next(iter(one.fields)): one for one in made}
    for name in better:
        one = by_name[name]
        if name in OF_FILE and "rater" not in roles:
            one.role, one.reason = (
                "rater",
                "the same comes again in each file, as of a rater",
            )
            return []
        if name in OF_FILE and "criterion" not in roles:
            question = "What the same rater said of the same outputs is in several files. Which column names the criterion?"
            return [Choice("criterion", question, tuple(better), name, needed=True)]
        if "rater" in roles and name not in OF_FILE:
            one.role, one.reason = (
                "item",
                "it tells apart rows that else would repeat each other",
            )
            return []
    return []


def _of_several(
    made: Sequence[Column],
    values: Mapping[str, Values],
    names: Sequence[str],
    others: Sequence[str],
    n: int,
) -> list[Choice]:
    """Ask whether the system's name is in several columns, if each row is one."""
    used = [
        name for name in others if not values[name].is_number and name not in OF_FILE
    ]
    if not used or _n_different([*names, *used], values) < n:
        return []
    whole = ",".join([*names, *used])
    question = "Rows of one system differ. Which columns together name the system (commas between)?"
    return [Choice("system", question, tuple(names), whole, needed=True)]


def _n_different(names: Sequence[str], values: Mapping[str, Values]) -> int:
    return len(set(zip(*(values[name].words for name in names), strict=True)))
