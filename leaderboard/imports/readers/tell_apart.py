"""Find the columns that tell rows apart, if those with a role do not."""

from collections.abc import Mapping, Sequence

from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.values import (
    ALONE,
    LONG,
    MEASURES,
    OF_FILE,
    Looked,
    Values,
    word_set,
)

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
    others = [
        next(iter(one.fields))
        for one in made
        if len(one.fields) == 1
        and (one.role in ("ignore", "document") or (
            one.role == "source" and values[one.name].says(word_set("document doc"))))
        and not (values[one.name].is_number and "likelier the system" in one.reason)
        and 1 < len(values[next(iter(one.fields))].counts) <= max(n / 2, 2)
        and values[next(iter(one.fields))].length < LONG
    ]  # fmt: skip
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
    for name in better:
        one, of_file = by_name[name], name in OF_FILE
        words = not values[name].is_number
        coded = words and values[name].is_coded and not same
        role = "rater" if not rated and (of_file or coded) else ""
        role = "item" if values[name].says(_PART) else role
        if role or (rated and not of_file and not (same and words)):
            again = "the same comes again in each file, as of a rater"
            one.role, one.reason = role or "item", again if of_file else ALONE
            return []
        asked = "system" if same and words else "rater" if words and not rated else ""
        if asked or (of_file and "criterion" not in roles):
            asked = asked or "criterion"
            options = better if asked == "criterion" else values
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
