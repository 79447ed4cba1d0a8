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
    plain,
)
from leaderboard.imports.readers.patterns import Family, cross, group_numbers, keys_in
from leaderboard.imports.readers.people import is_program
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.values import (
    AGAIN,
    COUNTED,
    LIKELY,
    LONG,
    MEASURES,
    NO_WORDS,
    OF_FILE,
    OF_SCALE,
    STANDARDIZED,
    UNNAMED,
    Guess,
    Values,
    examples_of,
    names_item,
    word_set,
)
from leaderboard.imports.readers.words import is_sided, side_of

_SIDE = re.compile(
    r"[ _.-]?(a|b|1|2|left|right|first|second)$|(?<![a-z])(left|right|first|second)[ _]",
    re.IGNORECASE,
)


_FIRST = ("a", "1", "left", "first")
_CONDITION = word_set(
    "architecture policy variant condition approach generator setup setting strategy version"
)
# After a side: `hyp_a_id`.
_WHAT = re.compile(r"[ _.-](id|name|text|system|model)$", re.IGNORECASE)


def guess_roles(
    values: Mapping[str, Values], fixed: Mapping[str, str]
) -> tuple[list[Column], list[Choice]]:
    """Return the columns and families of a table with their roles, and open questions.

    `fixed` are the roles that a person chose.
    """
    found = {
        name: (fixed[name], "as chosen") if name in fixed else one.guess
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
    _mark_likely(made, values)
    asked = _ask_conditions(made, values) if "system" not in fixed.values() else []
    asked = asked or _tell_apart(made, values, fixed)
    return made, [*asked, *ask_fillers(made, values)]


def _mark_likely(made: Sequence[Column], values: Mapping[str, Values]) -> None:
    """Set a reason for columns that name the systems if any of the others does."""
    items = [name for one in made if one.role == "item" for name in one.fields]
    for one in (one for one in made if one.reason == AGAIN):
        name = next(iter(one.fields))
        again = _n_different([*items, name], values) > _n_different(items, values) > 0
        if values[name].says(_CONDITION) or (name == OF_FILE[0] and again):
            one.reason = LIKELY


def _ask_conditions(
    made: Sequence[Column], values: Mapping[str, Values]
) -> list[Choice]:
    """Ask whether columns such as `condition` are parts of the system."""
    systems = [one.name for one in made if one.role == "system" and one.name in values]
    more = [one.name for one in made if values.get(one.name) and one.reason == LIKELY]
    more = [name for name in more if values[name].says(_CONDITION)]
    if len(systems) != 1 or not more:
        return []
    question = (
        f"Is {more[0]} a part of the system, too? Else choose {systems[0]} alone."
    )
    whole = ",".join([*systems, *more])
    return [Choice("system", question, tuple(values), whole, needed=True)]


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
            rated = found[before][0] == "rating" and values[before].is_number
            if rated and found[name][0] == "maybe":
                one, other = values[name].numbers, values[before].numbers
                alike = {values[k].name_words[0] for k in (name, before)}
                least, most = _ends(other)
                if (len(np.unique(one)) > 2 and _ends(one) == (least, most)) or (
                    len(alike) == 1
                    and least <= np.nanmin(one) <= np.nanmax(one) <= most
                ):
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
    if {"system", "item", "rater"} <= roles and roles.isdisjoint(
        (*MEASURES, "maybe", "words")
    ):
        for name, (_, reason) in found.items():
            if reason == STANDARDIZED and values[name].is_rated_name:
                found[name] = "rating", "by its name, beside system, item and rater"
    if all(r.startswith(OF_SCALE) for role, r in found.values() if role == "words"):
        roles -= {"words"}
    numbers_, words = (
        roles & {"rating", "choice"},
        roles & {"rating", "choice", "words"},
    )
    for name, (role, reason) in found.items():
        if role == "words":
            kind = plain(name) == "answer" and roles_of(values[name].answers)[0]
            found[name] = (
                ("kind", "by its name and words such as accept")
                if kind and roles & {"rating", "choice", "maybe"}
                else ("ignore", f"{reason}; numbers, or a choice, are ratings here")
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
            stem = _WHAT.sub("", name)
            stem = re.sub(r"\d+$", "", stem) if _numbered_side(name, found) else stem
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
    _settle_items(found, values, fixed)
    _leave_programs(found, values, fixed)
    roles = {role for role, _ in found.values()}
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
    if numbered_ and "system" not in roles:
        for name, (role, _) in found.items():
            by_row = [one for one, (r, _) in found.items() if r == "rater"]
            named = role == "item" and "id" in values[name].name_words
            if named and name not in fixed and by_row and all(
                _is_of_rows(values[one]) for one in (name, *by_row)
            ):  # fmt: skip
                found[name] = "ignore", f"it numbers the rows, as {by_row[0]} does"


def _is_of_rows(one: Values) -> bool:
    return len(one.counts) == len(one.answers)


def _settle_items(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Prefer an id that comes again and tells rows apart to one of rows, or to none."""
    named = [name for name, (role, _) in found.items() if role == "item"]
    if len(named) > 1 or "item" in fixed.values():
        return
    key = [name for name, (role, _) in found.items() if role in _KEY and role != "item"]
    ids = [
        name for name, (role, _) in found.items()
        if role == "ignore" and name not in fixed and names_item(values[name])
    ]  # fmt: skip
    documents = [name for name, (role, _) in found.items() if role == "document"]
    n_apart = {
        name: _n_different([*key, name], values) for name in (*ids, *named, *documents)
    }
    again = [one for one in ids if not _is_of_rows(values[one])]
    n = 0.99 * max(len(one.words) for one in values.values())
    best = next((one for one in again if n_apart[one] >= n), "")
    if not named or len(values[named[0]].counts) == 1:
        least = max((n_apart[one] for one in documents if not named), default=0)
        others = [one for one in again or ids if n_apart[one] > least]
        best = best or max(others, key=n_apart.__getitem__, default="")
    elif not _is_of_rows(values[named[0]]) and n_apart[named[0]] >= n:
        return
    if best:
        found |= dict.fromkeys(named, ("ignore", f"{best} is likelier the item"))
        found[best] = "item", "by its name, as no other column names what was judged"


def _leave_programs(
    found: dict[str, Guess], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> None:
    """Ignore a rater that is a program if the name of the ratings says a person's."""
    human = [
        name for name, (role, _) in found.items()
        if role == "rating" and values[name].says(word_set("human people person"))
    ]  # fmt: skip
    for name, (role, _) in found.items() if human else ():
        one = values[name]
        programs = role == "rater" and all(map(is_program, one.counts))
        rated = role == "rating" and one.says(word_set("judge llm gpt ai machine"))
        if name not in fixed and (programs or rated):
            found[name] = "ignore", f"it is of a program, and {human[0]} is of people"


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
            both = {1.0, 0.0} <= {*map(side_of, one.counts)} and is_sided(one.counts)
            if len(one.counts) > 1 and (
                is_sided(one.counts, only=True) or (both and one.has_few)
            ):
                reason = f"words for two sides: {', '.join(examples_of(one))}"
                family = next(f for f in group_numbers(found) if name in f.columns)
                for other in family.columns:
                    words = values[other].counts
                    if other == name or not words or is_sided(words, only=True):
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
    "rater": lambda one: (plain(one.name) == "responseid") - len(one.answers),
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
    paths = {name.rpartition(".")[0] for name, (r, _) in found.items() if r in MEASURES}
    for name in named:
        if name not in same and name.rpartition(".")[0] not in paths - {""}:
            found[name] = "ignore", f"{best} is likelier the {role}"


# Roles that tell rows apart.
_KEY = ("system", "system 1", "system 2", "item", "rater", "criterion")


def _tell_apart(
    made: list[Column], values: Mapping[str, Values], fixed: Mapping[str, str]
) -> list[Choice]:
    """Find columns that tell apart rows that else would repeat each other."""
    roles = {one.role for one in made}
    if not roles & set(MEASURES):
        return []
    names = [
        name
        for one in made
        if one.role in _KEY and len(one.fields) == 1
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


_ALONE = "it tells apart rows that else would repeat each other"


def _use(
    made: Sequence[Column],
    better: Sequence[str],
    roles: set[str],
    fixed: Mapping[str, str],
    values: Mapping[str, Values],
) -> list[Choice]:
    by_name = {next(iter(one.fields)): one for one in made}
    for name in better:
        one, one_value = by_name[name], values[name]
        if name in OF_FILE and "rater" not in roles:
            one.role, one.reason = (
                "rater",
                "the same comes again in each file, as of a rater",
            )
            return []
        systems = [o for o in made if o.role == "system"]
        same = [o for o in systems if len(values[next(iter(o.fields))].counts) == 1]
        if same and systems == same and not one_value.is_number:
            question = (
                f"All rows have one {same[0].name}, and rows of one item differ by {name}. "
                "Which columns name the system?"
            )
            return [Choice("system", question, tuple(values), name, needed=True)]
        if "rater" not in roles and not one_value.is_number:
            if one_value.is_coded:
                one.role, one.reason = "rater", _ALONE
                return []
            question = (
                f"Rows of one system and item repeat each other but for {name}. Which "
                "column names the rater? If it is a part of the system instead, choose "
                "the columns of system."
            )
            return [Choice("rater", question, tuple(values), name, needed=True)]
        if name in OF_FILE and "criterion" not in roles:
            question = "What the same rater said of the same outputs is in several files. Which column names the criterion?"
            return [Choice("criterion", question, tuple(better), name, needed=True)]
        if "rater" in roles and name not in OF_FILE:
            one.role, one.reason = "item", _ALONE
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
