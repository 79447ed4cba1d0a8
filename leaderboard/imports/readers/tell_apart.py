"""Find the columns that tell rows apart, if those with a role do not, and the answers."""

from collections.abc import Mapping, Sequence
from itertools import compress

from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.patterns import group_numbers
from leaderboard.imports.readers.values import (
    AGAIN,
    ALONE,
    CONDITION,
    LIKELY,
    LONG,
    MEASURES,
    OF_FILE,
    QUESTION,
    Found,
    Looked,
    Values,
    examples_of,
    word_set,
)
from leaderboard.imports.readers.words import YES_NO

# Roles that tell rows apart.
KEY_ROLES = ("system", "system 1", "system 2", "item", "rater", "criterion")


def tell_apart(
    made: list[Column], values: Looked, fixed: Mapping[str, str]
) -> list[Choice]:
    roles = {one.role for one in made}
    parts = {part for one in made for fields in one.fields.values() for part in fields}
    names = [
        name for one in made if one.role in KEY_ROLES and len(one.fields) == 1 for name in one.fields
    ]  # fmt: skip
    n = len(next(iter(values.values())).words) if values else 0
    if (
        roles.isdisjoint(MEASURES)
        or not ({"system", "system 1"} & roles or "system" in parts)
        or not names
        or n_different(names, values) >= 0.99 * n
    ):
        return []
    # files that share no column of answers differ by the columns' names already
    answers = [
        values[f].words for one in made if one.role in MEASURES for f in one.fields
    ]
    single = {
        one
        for one in {*OF_FILE} & {*values}
        if all(len({*compress(values[one].words, cells)}) < 2 for cells in answers)
    }
    others = [
        next(iter(one.fields))
        for one in made
        if len(one.fields) == 1
        and single.isdisjoint(one.fields)
        and (one.role in ("ignore", "document") or (
            one.role == "source" and values[one.name].says(word_set("document doc"))))
        and not (values[one.name].is_number and "likelier the system" in one.reason)
        and 1 < len(values[next(iter(one.fields))].counts) <= max(n / 2, 2)
        and values[next(iter(one.fields))].length < LONG
    ]  # fmt: skip
    n_known = n_different(names, values)
    asked = [
        one for one in others
        if "criterion" not in roles and values[one].says(QUESTION - _PART) and not values[one].is_number
        and n_different([*names, one], values) == n_known * len(values[one].counts)
    ]  # fmt: skip
    if asked and roles & {"item", "rater"}:
        found = next(one for one in made if asked[0] in one.fields)
        found.role, found.reason = "criterion", ALONE
        return tell_apart(made, values, fixed)
    if not roles & {"item", "rater"}:
        items = [one for one in others if _is_item(values[one])]
        if best := max(items, key=lambda name: len(values[name].counts), default=""):
            found = next(one for one in made if best in one.fields)
            found.role, found.reason = "item", ALONE
            return tell_apart(made, values, fixed)
        return (
            _of_several(made, values, names, others, n)
            if "system" not in fixed.values()
            else []
        )
    better = sorted(
        (one for one in others if n_different([*names, one], values) >= 0.99 * n),
        key=lambda name: (
            name in OF_FILE,
            not values[name].says(word_set("turn sentence segment part round session")),
        ),
    )
    return _use(made, better, roles | parts & {"rater"}, values)


def _is_item(one: Values) -> bool:
    """Check for codes such as `q12`, or more words than conditions of systems have."""
    return not one.is_number and one.name not in OF_FILE and (
        len(one.counts) > 9 or (one.is_coded and len(one.counts) > 3))  # fmt: skip


_PART = word_set("task tasks domain subset split category topic genre language corpus")
_OF_PART = (
    "The same rater rated the same item and system more than once, by {0}. Is {0} a part of "
    "the system? Else choose the system alone."
)
_OF_ALONE = {
    "system": "All rows have one {1}, and rows of one item differ by {0}. Which columns "
    "name the system?",
    "rater": "Rows of one system and item repeat each other but for {0}. Which column names "
    "the rater? If it is a part of the system instead, choose the columns of system.",
    "criterion": "What the same rater said of the same outputs is in several files. Which "
    "column names the criterion?",
}


def _use(
    made: Sequence[Column], better: Sequence[str], roles: set[str], values: Looked
) -> list[Choice]:
    by_name = {next(iter(one.fields)): one for one in made}
    systems = [next(iter(one.fields)) for one in made if one.role == "system"]
    same = bool(systems) and all(len(values[one].counts) == 1 for one in systems)
    rated = "rater" in roles
    is_single = [len(one.fields) for one in made if one.role == "system"] == [1]
    for name in better:
        one, of_file = by_name[name], name in OF_FILE
        words = not values[name].is_number
        coded = words and values[name].is_coded and not same
        role = "rater" if not rated and (of_file or coded) else ""
        role = "item" if values[name].says(_PART) else role
        # of a system in one column
        part = rated and values[name].has_few and not of_file and is_single
        if role or (rated and not of_file and not (words and (same or part))):
            again = "the same comes again in each file, as of a rater"
            one.role, one.reason = role or "item", again if of_file else ALONE
            return []
        asked = "system" if words and (same or part) else ""
        asked = asked or ("rater" if words and not rated else "")
        if asked or (of_file and "criterion" not in roles):
            asked = asked or "criterion"
            options = better if asked == "criterion" else values
            if asked == "system" and not same:
                likely, question = ",".join([*systems, name]), _OF_PART.format(name)
                return [Choice("system", question, tuple(values), likely, needed=True)]
            question = _OF_ALONE[asked].format(name, *systems)
            return [Choice(asked, question, tuple(options), name, needed=True)]
    return []


def _of_several(
    made: Sequence[Column],
    values: Looked,
    names: Sequence[str],
    others: Sequence[str],
    n: int,
) -> list[Choice]:
    used = [
        name for name in others if not values[name].is_number and name not in OF_FILE
    ]
    if not used or n_different([*names, *used], values) < n:
        return []
    question = "Rows of one system differ. Which columns together name the system (commas between)?"
    likely = ",".join([*names, *used])
    return [Choice("system", question, tuple(names), likely, needed=True)]


def n_different(names: Sequence[str], values: Looked) -> int:
    return len(set(zip(*(values[name].words for name in names), strict=True)))


def are_crossed(few: Values, many: Values) -> bool:
    n, n_many = len(few.counts), len(many.counts)
    pairs = {*zip(few.words, many.words, strict=True)}
    return few.has_few and 1 < n < n_many and len(pairs) == n * n_many


def leave_even(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    """Take numbers that come equally often for items, and words that do not for answers.

    Words are answers only if nothing else can be, and if only one column, or family, has them.
    """
    answers = [
        name for name, (role, _) in found.items()
        if role in (*MEASURES, "maybe", "words")
    ]  # fmt: skip
    even = [
        name for name in answers
        if found[name][0] == "maybe" and name not in fixed and len(values[name].counts) > 5 and values[name].is_even
    ]  # fmt: skip
    uneven = [
        name for name, (_, reason) in found.items()
        if reason == AGAIN and name not in fixed and values[name].has_few and not values[name].is_even
        and not values[name].says(CONDITION) and name not in OF_FILE
    ]  # fmt: skip
    if even and (uneven or len(even) < len(answers)):
        reason = "each number comes equally often, as those of items do"
        found |= dict.fromkeys(even, ("item", reason))
        answers = [name for name in answers if name not in even]
    letters = [
        n for n in uneven if {*map(str.lower, values[n].counts)} <= YES_NO.keys()
    ]
    uneven = letters or uneven
    if not answers and len(group_numbers(uneven)) == 1:
        reason = f"few words, not equally often, as answers: {', '.join(examples_of(values[uneven[0]]))}"
        found |= dict.fromkeys(uneven, ("words", reason))


def ask_conditions(made: Sequence[Column], values: Looked) -> list[Choice]:
    systems = [one.name for one in made if one.role == "system" and one.name in values]
    more = [
        one.name
        for one in made
        if one.name in values
        and one.reason == LIKELY
        and values[one.name].says(CONDITION)
    ]
    if len(systems) != 1 or not more:
        return []
    question = (
        f"Is {more[0]} a part of the system, too? Else choose {systems[0]} alone."
    )
    likely = ",".join([*systems, *more])
    return [Choice("system", question, tuple(values), likely, needed=True)]
