"""Guess the roles of a table's columns from their names and values."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import eq

import numpy as np

from leaderboard.imports.readers.families import (
    SIDE_WORD,
    Column,
    ask_fillers,
    families_of,
    find_ends,
    find_pairs,
    find_ranks,
    leave_derived,
    leave_unnamed,
)
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import Floats, plain
from leaderboard.imports.readers.patterns import (
    Family,
    cross,
    group_numbers,
    keys_in,
    matches,
    parts_in,
)
from leaderboard.imports.readers.people import is_program
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.tell_apart import (
    KEY_ROLES,
    are_crossed,
    ask_conditions,
    leave_even,
    n_different,
    tell_apart,
)
from leaderboard.imports.readers.values import (
    AGAIN,
    BESIDE,
    CHOICE,
    COMPUTED,
    CONDITION,
    COUNTED,
    IS_KIND,
    LIKELY,
    LONG,
    MARKED,
    MEASURES,
    MOST_VALUES,
    NO_WORDS,
    OF_FILE,
    OF_SCALE,
    QUESTION,
    RATING,
    STANDARDIZED,
    UNNAMED,
    Found,
    Guess,
    Looked,
    Values,
    examples_of,
    lower_words,
    names_item,
    word_set,
)
from leaderboard.imports.readers.words import OUTCOMES, is_sided, side_of

_SIDE = re.compile(
    r"[ _.-]?(a|b|1|2|left|right|first|second)$|(?<![a-z])(left|right|first|second)[ _]",
    re.IGNORECASE,
)

# After a side: `hyp_a_id`.
_WHAT = re.compile(r"[ _.-](id|name|text|system|model)$", re.IGNORECASE)


def guess_roles(
    values: Looked, fixed: Mapping[str, str]
) -> tuple[list[Column], list[Choice]]:
    """Return the columns and families of a table with their roles, and open questions.

    `fixed` are the roles that a person chose.
    """
    found = {
        name: (fixed[name], "as chosen") if name in fixed else one.guess
        for name, one in values.items()
    }
    grids = find_ranks(found, values, fixed)
    ranked = dict.fromkeys(name for one in grids for name in one.columns)
    fixed = {**fixed, **dict.fromkeys(ranked, "rating")}
    found |= dict.fromkeys(ranked, ("rating", "each row has all ranks from 1"))
    _leave_computed(found, values, fixed)
    leave_even(found, values, fixed)
    _agree(found, values, fixed)
    _prefer_named(found, values)
    _pair(found, fixed)
    roles = {role for role, _ in found.values()}
    found |= {
        name: ("rating", "ranks, as there are no ratings")
        for name, (_, reason) in found.items()
        if reason.startswith("numbers named “rank")
        and roles.isdisjoint((*MEASURES, "maybe", "words", "system 1"))
    }
    for family in group_numbers(n for n, (r, _) in found.items() if r == "rater"):
        few = [n for n in family.columns if n not in fixed and values[n].has_few]
        again = sum(map(eq, *(values[n].words for n in few[:2]))) if few[1:] else 0
        if few == [*family.columns] and 8 * again > len(values[few[0]].words):
            # a person does not rate twice, and answers agree
            reason = "answers of numbered raters, which agree often"
            found |= dict.fromkeys(few, ("choice", reason))
        names = [n for n in family.columns if values[n].is_number and n not in fixed]
        if roles.isdisjoint((*MEASURES, "maybe", "words")) and len(names) > 1:
            found |= dict.fromkeys(names, ("rating", "numbers of numbered raters"))
    find_pairs(found, values, fixed)
    _settle(found, values, fixed)
    made = families_of(found, values, grids)
    leave_derived(made, values)
    leave_unnamed(made)
    _mark_likely(made, values)
    asked = ask_conditions(made, values) if "system" not in fixed.values() else []
    asked = asked or tell_apart(made, values, fixed) or _ask_parts(made, values)
    return made, [*asked, *ask_fillers(made, values)]


def _leave_computed(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    """Ignore numbers that no few raters have as means, beside ratings that they do."""
    named = [name for name, (role, _) in found.items() if role == "rating"]
    parts = [values[name].numbers for name in named if values[name].n_parts]
    low, high = _ends(np.concatenate(parts)) if len(parts) > 1 else (-np.inf, np.inf)
    found |= {
        name: ("ignore", f"{COMPUTED}{UNNAMED}")
        for name in named
        if name not in fixed and values[name].is_number and not values[name].n_parts
        and not low <= np.nanmin(values[name].numbers) <= np.nanmax(values[name].numbers) <= high
    }  # fmt: skip


def _mark_likely(made: Sequence[Column], values: Looked) -> None:
    items = [name for one in made if one.role == "item" for name in one.fields]
    for one in (one for one in made if one.role == "source" and one.fields):
        rows = list(zip(*(values[name].words for name in one.fields), strict=True))
        if len(one.fields) > 1 and all(
            len({*row}) == len(row) and not re.search(r"\s", "".join(row))
            for row in rows
        ):
            one.role, one.reason = "ignore", LIKELY
    for one in (one for one in made if one.reason == AGAIN):
        name = next(iter(one.fields))
        again = n_different([*items, name], values) > n_different(items, values) > 0
        if values[name].says(CONDITION) or (name == OF_FILE[0] and again):
            one.reason = LIKELY


def _ask_parts(made: Sequence[Column], values: Looked) -> list[Choice]:
    """Ask whether parts of cells, or columns numbered as ratings are, name the systems."""
    parts = {part for one in made for fields in one.fields.values() for part in fields}
    known = parts | {one.role for one in made}
    if known & {"system", "system 1", "choice", "best"} or known.isdisjoint(MEASURES):
        return []
    rated = [name for one in made if one.role == "rating" for name in one.fields]
    families = [
        family.pattern(["part"]) for family in group_numbers(n for o in made for n in o.fields)
        if len(family.columns) > 1 and _are_named(family, rated, values)
    ]  # fmt: skip
    cells = (
        f"{name}={pattern}" for name in (one.name for one in made if one.name in values)
        if not values[name].is_number and len(values[name].counts) < MOST_VALUES
        and all(re.fullmatch(r"\S{2,60}", word) for word in values[name].counts)
        and (pattern := parts_in(values[name].counts))
    )  # fmt: skip
    likely = next(itertools.chain(families[-1:], cells), "")
    name, _, pattern = likely.partition("=")
    for part, other in (("item", ""), ("system", "item")) if name in values else ():
        read = matches(pattern, [*values[name].counts]).values()
        if read and all(RATING & {*lower_words(one[part])} for one in read):
            likely = likely.replace(f"{{{part}", "{criterion").replace(
                f"{{{other}", "{system"
            )
    question = (
        f"Does {likely} name the systems? Else choose their column; if all rows are of one "
        "system, write its name after a colon (:NAME)."
    )
    asked = Choice("system", question, tuple(values), likely, needed=True)
    return [asked] if likely else []


def _are_named(family: Family, rated: Sequence[str], values: Looked) -> bool:
    """Check for names that differ in each row, numbered as ratings are."""
    rows = [*zip(*(values[name].words for name in family.columns), strict=True)]
    words = {word for row in rows for word in row}
    numbered = {
        frozenset(one.values(k))
        for one in group_numbers(rated) for k in range(one.template.count("{}"))
    }  # fmt: skip
    return (
        family.template.count("{}") == 1
        and frozenset(family.values(0)) in numbered
        and 2 * len(words) <= len(rows) * len(family.columns)
        and all(len({*row}) == len(row) for row in rows)
        and max(map(len, words)) < LONG
        and not any(values[name].is_number for name in family.columns)
    )


def _agree(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    families = group_numbers(found)
    for family in (*families, *cross(families)):
        names = [n for n in family.columns if values[n].answers and n not in fixed]
        if len(names) < 2:
            continue
        roles = Counter(found[name][0] for name in names)
        best, n = max(roles.items(), key=lambda pair: (pair[1], pair[0] in MEASURES))
        if roles["rating"] + roles["maybe"] >= max(2, len(names) / 2):
            best = "rating" if roles["rating"] else "maybe"
        elif family not in families or n < len(names) / 2:
            continue
        reason = next(found[name][1] for name in names if found[name][0] == best)
        found |= {
            name: (best, reason)
            for name in family.columns
            if name not in fixed
            and found[name][0] not in ("rater", "system", "text")
            and not (best in ("rating", "maybe") and values[name].is_no_rating)
            # a short word in a name, such as n, may be part of a table of names
            and not (
                found[name][1].startswith("numbers named")
                and (family not in families or best == "maybe")
                and min(map(len, set(values[name].name_words) & COUNTED)) > 1
            )
        }
    _join_like(found, values)
    _join_siblings(found, values)


def _join_like(found: Found, values: Looked) -> None:
    named = [values[name] for name, (role, _) in found.items() if role == "rating"]
    # texts and counts may be between
    listed = [
        name for name, (role, reason) in found.items()
        if not reason.startswith("numbers named") and (
            values[name].is_number
            or (role == "words" and values[name].is_yes_no and not values[name].says(IS_KIND)))
    ]  # fmt: skip
    for names in (listed, listed[::-1]):
        for before, name in itertools.pairwise(names):
            one, role = values[name], found[name][0]
            end = values[before].name_words[-1:]
            if found[before][0] != "rating" or role not in ("maybe", "words"):
                continue
            if (
                len(one.counts) > 1
                and one.n_parts
                and (end == one.name_words[-1:] or _is_within(one, named))
            ):
                found[name] = "rating", f"{BESIDE}{before}"
            elif role == "words" and names is listed:
                # before ratings, it may be a part of the system
                found[name] = "rating", MARKED


def _is_within(one: Values, named: Sequence[Values]) -> bool:
    same = [other.numbers for other in named if other.kind == one.kind]
    if not same:
        return False
    (low, high), (least, most) = _ends(np.concatenate(same)), _ends(one.numbers)
    step = 0 if one.kind[0] else max(1, (high - low) / 10)
    return low - step <= least and most <= high + step and (least >= 0 or low < 0)


def _join_siblings(found: Found, values: Looked) -> None:
    many = [one.columns for one in group_numbers(found) if len(one.columns) > 2]
    rated = [one for one in many if found[next(iter(one))][0] == "rating"]
    numbers_ = {frozenset(one.values()) for one in rated}
    found |= {
        name: ("rating", "numbered as other ratings are") for columns in many
        for name in columns if frozenset(columns.values()) in numbers_ and (
        found[name][0] == "maybe"
        or (found[name][1] == NO_WORDS and not np.isnan(values[name].numbers).all()))
    }  # fmt: skip


def _ends(numbers_: Floats) -> tuple[float, float]:
    return float(np.nanmin(numbers_)), float(np.nanmax(numbers_))


def _prefer_named(found: Found, values: Looked) -> None:
    roles = {role for role, _ in found.values()}
    many = {
        name
        for family in group_numbers(found)
        for name in family.columns
        if len(family.columns) >= 5 and found[name][0] == "maybe"
    }
    found |= {
        name: ("rating", "by its name, beside system, item and rater")
        for name, (_, reason) in found.items()
        if reason == STANDARDIZED
        and values[name].is_rated_name
        and {"system", "item", "rater"} <= roles
        and roles.isdisjoint((*MEASURES, "maybe", "words"))
    }
    if all(r.startswith(OF_SCALE) for role, r in found.values() if role == "words"):
        roles -= {"words"}
    numbers_ = roles & {"rating", "choice"}
    for name, (role, reason) in found.items():
        if role == "words":
            kind = plain(name) == "answer" and roles_of(values[name].answers)[0]
            found[name] = (
                ("kind", "by its name and words such as accept")
                if kind and roles & {"rating", "choice", "maybe"}
                else ("ignore", f"{reason}{UNNAMED}")
                if numbers_
                else ("rating", reason)
            )
        elif role == "maybe":
            found[name] = (
                ("ignore", f"{reason}{UNNAMED}")
                if numbers_ or "words" in roles
                else ("ignore", f"{reason}, but many others belong together")
                if many and name not in many
                else ("rating", reason)
            )


def _pair(found: Found, fixed: Mapping[str, str]) -> None:
    of_many = {
        name
        for family in group_numbers(found)
        for name in family.columns
        if len(family.columns) > 2 and not _numbered_side(name, found)
    }
    for role in ("system", "text"):
        sided: dict[tuple[str, bool], str] = {}
        for name, (guessed, _) in found.items():
            stem = _WHAT.sub("", name)
            stem = re.sub(r"\d+$", "", stem) if _numbered_side(name, found) else stem
            side = _SIDE.search(stem) or re.search(r"(?<=[a-z])([ab])$", stem)
            if guessed == role and side and name not in of_many:
                rest = stem[: side.start()] + stem[side.end() :] + name[len(stem) :]
                word = next(filter(None, side.groups())).lower()
                sided[rest, word in ("a", "1", "left", "first")] = name
        found |= {
            name: (f"{role} {2 - first}", f"by its name, beside {other}")
            for (rest, first), name in sided.items()
            if (other := sided.get((rest, not first)))
            and name not in fixed
            and (_numbered_side(name, found) or not _is_rated(name, found))
        }


def _is_rated(name: str, found: Mapping[str, Guess]) -> bool:
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


def _settle(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    items = [name for name, (role, _) in found.items() if role == "item"]
    roles = {role for role, _ in found.values()}
    found |= {
        name: ("criterion", f"each of {item} comes with each of its texts")
        for name, item in itertools.product(found, items)
        if name != item and name not in fixed and "criterion" not in roles
        and found[name][0] in ("text", "source", "item") and values[name].says(QUESTION)
        and are_crossed(values[name], values[item])
    }  # fmt: skip
    if {"system 1", "system 2"} <= roles:
        _settle_pairs(found, values, fixed, "choice" in roles)
    elif {"text 1", "text 2", "rating"} <= roles and any(
        role == "choice" and is_sided(values[name].counts, only=True)
        for name, (role, _) in found.items()
    ):
        _settle_pairs(found, values, fixed, chosen=True)
    elif "rating" not in roles and any(
        role == "choice" and OUTCOMES.keys() & {*map(str.lower, values[name].counts)}
        for name, (role, _) in found.items()
    ):
        # each is compared with one that no column names
        found |= {
            name: ("system 1", f"{reason}, and rows say whether it is better")
            for name, (role, reason) in found.items()
            if role == "system" and name not in fixed
        }
    elif {"rating", "choice"} <= roles:
        sure = all(
            values[name].says(word_set("confidence certainty sure"))
            and name not in fixed
            for name, (role, _) in found.items()
            if role == "rating"
        )
        found |= {
            name: (
                "ignore",
                "how sure raters are" if sure else "no columns name two systems",
            )
            for name, (role, _) in found.items()
            if role == ("rating" if sure else "choice") and name not in fixed
        }
    find_ends(found, values, fixed)
    for role, key in _LIKELIEST.items():
        _only_one(found, values, role, key, fixed)
    _settle_items(found, values, fixed)
    _leave_programs(found, values, fixed)
    roles = {role for role, _ in found.values()}
    inputs = [
        (name, ("item", f"no other column names what was judged ({role})"))
        for name, (role, _) in found.items()
        if role in ("source", "document") and len(values[name].counts) > 1
    ]
    measures = [name for name, (role, _) in found.items() if role in MEASURES]
    numbered_ = any(len(family.columns) > 2 for family in group_numbers(measures))
    if inputs and "item" not in roles:
        alike = group_numbers(dict(inputs))[0].columns if numbered_ else ()
        found |= {n: one for n, one in inputs if n in alike} or dict(inputs[:1])
    shown = [n for n, (role, _) in found.items() if role == "system"]
    several = max((len(one.columns) for one in group_numbers(shown)), default=0)
    found |= {
        name: ("best", f"it names one of {several:,} systems")
        for name, (role, _) in found.items()
        if role == "choice" and 2 < len(values[name].counts) <= several > 2
    }
    found |= {
        name: ("rater", "each row has numbered ratings, as of one person")
        for name, (role, reason) in found.items()
        if numbered_ and not roles & {"rater", "system", "text", "source"}
        and name not in fixed and (
            (role == "item" and values[name].name_words == ["id"])
            or (reason == NO_WORDS and values[name].name_words[-1:] == ["name"]
                and _is_of_rows(values[name])))
    }  # fmt: skip
    raters = [name for name, (role, _) in found.items() if role == "rater"]
    found |= {
        name: ("ignore", f"it numbers the rows, as {raters[0]} does")
        for name, (role, _) in found.items()
        if numbered_ and raters and "system" not in roles
        and role == "item" and "id" in values[name].name_words and name not in fixed
        and all(_is_of_rows(values[one]) for one in (name, *raters))
    }  # fmt: skip


def _is_of_rows(one: Values) -> bool:
    return len(one.counts) == len(one.answers)


def _settle_items(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    named = [name for name, (role, _) in found.items() if role == "item"]
    if len(named) > 1 or "item" in fixed.values():
        return
    key = [
        name
        for name, (role, _) in found.items()
        if role in KEY_ROLES and role != "item"
    ]
    ids = [
        name
        for name, (role, _) in found.items()
        if role == "ignore" and name not in fixed and names_item(values[name])
    ]
    documents = [name for name, (role, _) in found.items() if role == "document"]
    n_apart = {
        name: n_different([*key, name], values) for name in (*ids, *named, *documents)
    }
    again = [one for one in ids if not _is_of_rows(values[one])]
    n = 0.99 * max((len(one.words) for one in values.values()), default=0)
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


def _leave_programs(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    human = [
        name
        for name, (role, _) in found.items()
        if role == "rating" and values[name].says(word_set("human people person"))
    ]
    machine = word_set("judge llm gpt ai machine")
    programs = [
        name
        for name, (role, _) in found.items()
        if (role == "rater" and all(map(is_program, values[name].counts)))
        or (role == "rating" and values[name].says(machine))
    ]
    found |= {
        name: ("ignore", f"it is of a program, and {human[0]} is of people")
        for name in programs
        if human and name not in fixed
    }


def _settle_pairs(
    found: Found, values: Looked, fixed: Mapping[str, str], chosen: bool
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
                found |= {
                    other: ("choice", reason)
                    for other in family.columns
                    if other == name
                    or not values[other].counts
                    or is_sided(values[other].counts, only=True)
                }
        elif role == "system":
            found[name] = "ignore", "the two systems of a pair are in other columns"
    if not any(role == "choice" for role, _ in found.values()):
        sides = [name for name, (role, _) in found.items() if role == "system 1"]
        numbers_ = [re.findall(r"\d+", name) for name in sides]
        found |= {
            name: ("choice", f"{reason}, beside two systems")
            for name, (role, reason) in found.items()
            if role in ("rating", "ignore")
            and (
                (values[name].says(CHOICE) and values[name].answers)
                or (role == "rating" and 1 < len(values[name].counts) <= 4)
            )
            and re.findall(r"\d+", name) in numbers_
            and not SIDE_WORD.search(name)
            and name not in fixed
        }
    if any(role == "choice" for role, _ in found.values()):
        found |= {
            name: ("ignore", "another column has the choice")
            for name, (role, _) in found.items()
            if role == "rating" and name not in fixed
        }


_LIKELIEST: Mapping[str, Callable[[Values], float]] = {
    # an id that names an item is likelier than one of a row
    "item": lambda one: (one.name_words == ["id"]) + _is_of_rows(one) / 2,
    "rater": lambda one: (plain(one.name) == "responseid") - len(one.answers),
    # names are likelier than numbers
    "system": lambda one: len(one.name_words) + 9 * one.is_number,
    **dict.fromkeys(
        ("document", "time", "began", "seconds", "criterion"), lambda one: 0
    ),
}


def _only_one(
    found: Found,
    values: Looked,
    role: str,
    key: Callable[[Values], float],
    fixed: Mapping[str, str],
) -> None:
    named = [name for name, (guessed, _) in found.items() if guessed == role]
    if role in fixed.values():
        reason = f"another column is the {role}"
        left = [name for name in named if name not in fixed]
    elif len(named) < 2:
        return
    else:
        best = min(named, key=lambda name: key(values[name]))
        reason = f"{best} is likelier the {role}"
        families = group_numbers(named, keys_in(list(found)))
        same = next(family.columns for family in families if best in family.columns)
        rated = {n.rpartition(".")[0] for n, (r, _) in found.items() if r in MEASURES}
        left = [
            name
            for name in named
            if name not in same and name.rpartition(".")[0] not in rated - {""}
        ]
    found |= dict.fromkeys(left, ("ignore", reason))
