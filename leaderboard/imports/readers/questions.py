"""What files of ratings cannot tell, as questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.judgments import Judgments, Role
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import CONSTANT, EACH, NAMED, ROLES, Chosen
from leaderboard.imports.readers.names import numbers
from leaderboard.imports.readers.patterns import is_pattern
from leaderboard.imports.readers.values import AGAIN, LIKELY, MEASURES, OF_FILE, UNNAMED
from leaderboard.imports.readers.words import scale_of, side_of, unknown

if TYPE_CHECKING:
    import pandas as pd


# A larger share of lost ratings needs a confirmation.
_MOST_LOST = 0.01


# Marks between several systems in one cell.
BETWEEN = re.compile(r"\s*[,;|]\s*|\s+")


def missing_in(columns: Sequence[Column], said: Chosen, names: Sequence[str]) -> Any:
    """Yield the questions without which nothing can be read."""
    of = {role: [one for one in columns if one.role == role] for role in ROLES}
    measures = [one for role in MEASURES for one in of[role]]
    options = tuple(names)
    if not measures:
        yield Choice(
            "rating",
            "Which columns hold the ratings (commas between), or which one the choice?",
            options,
            needed=True,
        )
    fields = [fields for one in measures for fields in one.fields.values()]
    pairs = all(
        of[f"system {k}"]
        or said.constant(f"system {k}")
        or (fields and all(f"system_{k}" in one for one in fields))
        for k in (1, 2)
    )
    named = all("system" in one for one in fields) and bool(fields)
    single = of["system"] or said.constant("system")
    in_words = any(np.isnan(numbers(one.examples)).any() for one in of["choice"])
    if of["choice"] and not of["rating"] and (pairs or (in_words and not single)):
        if not pairs:
            known = [
                w for k in (1, 2) for one in of[f"system {k}"] for w in one.examples
            ]
            yield from _two_systems(of["choice"], said, options, known)
        return
    chosen = "rating" in said.columns
    two = [one for one in of["rating"] if len(one.numbers_in_name) > 1 and not chosen]
    orders = _orders(of["rating"], "item" if of["rater"] else "rater") if two else ()
    if two and said.numbers:
        name = next(iter(two[0].fields))
        question = (
            f"The names of ratings such as {name} have two numbers. Which is whose?"
        )
        yield Choice("rating", question, orders, orders[0], needed=True)
        return
    unnamed = [
        one.name
        for one in of["rating"]
        if one.reason.startswith("few numbers") and not is_pattern(one.name)
    ]
    has_system = of["system"] or named or said.constant("system")
    if len(unnamed) > 1 and not said.names and not (has_system and of["rater"]):
        yield Choice(
            "names",
            f"What do the names of the columns of numbers say: {', '.join(unnamed[:6])}?",
            NAMED,
            "raters" if has_system else "systems",
            needed=True,
        )
    elif not (has_system or pairs or of["best"]) and measures:
        in_names = " or ".join(f"choose rating={one}" for one in orders)
        in_names = in_names or "add numbers=systems"
        yield Choice(
            "system",
            "Which column names the systems? If all rows are of one, write its name after "
            "a colon (:NAME); if the number in the name of a rating column is that of a "
            f"system, {in_names}.",
            options,
            found=_likely_system(columns),
            needed=True,
        )


def _orders(ratings: Sequence[Column], other: str) -> tuple[str, ...]:
    """Return patterns in which each number in names of ratings is that of the system."""
    orders = []
    parts = max((one.numbers_in_name for one in ratings), key=len)
    for k in parts:
        names = [one.name for one in ratings]
        for part in parts:
            new = "{system" if part == k else f"{{{other}"
            names = [re.sub(rf"\{{{part}\b", new, name) for name in names]
        orders.append(",".join(names))
    return tuple(orders)


def _two_systems(
    choice: Sequence[Column],
    said: Chosen,
    options: tuple[str, ...],
    known: Sequence[str],
) -> Iterator[Choice]:
    names = [w for w in choice[0].examples if np.isnan(side_of(w)) and w not in known]
    names = [w for w in names if any(w in one for one in options)] or names
    left = [
        k for k in (1, 2) if not (said.columns.get(f"system {k}") or (known and k == 2))
    ]
    for k in left:
        found = f"{CONSTANT}{names[-k]}" if len(names) == len(left) else ""
        yield Choice(
            f"system {k}",
            f"Which system is the {('first', 'second')[k - 1]} of the two? Choose a "
            "column, or write a name after a colon (:NAME).",
            options,
            found,
            needed=True,
        )


def _likely_system(columns: Sequence[Column]) -> str:
    """Return the first other column of a few words, such as a condition's."""
    likely = [
        one.name
        for reason in (LIKELY, AGAIN)
        for one in columns
        if one.role == "ignore" and one.reason == reason
    ]
    likely += [one.name for one in columns if one.name in OF_FILE]
    return next(iter(likely), "")


def asked_of(
    judgments: Judgments, columns: Sequence[Column], said: Chosen
) -> list[Choice]:
    """Return the questions about ratings that were read."""
    rows = judgments.rows
    found: list[Choice] = []
    rated = rows["role"].isin([role.value for role in said.counted])
    counts = rows["criterion"][rated].value_counts(sort=False)
    unread = rows[rated & rows["value"].isna()]
    criteria = list(map(str, counts.index))
    explicit = (
        "rating" in said.columns or "choice" in said.columns
    ) and not said.may_lack
    if len(criteria) > 1 and not said.ranks and not explicit:
        likely = next((c for c in criteria if "overall" in c.lower()), criteria[0])
        other = [one.name for one in columns if one.reason.endswith(UNNAMED)]
        question = "Which criterion ranks the systems?" + bool(other) * (
            f" Other numbers are ignored unless chosen with rating=…: {', '.join(other)}."
        )
        found.append(Choice("ranks", question, tuple(criteria), likely, needed=True))
    one = next(iter(criteria), "") if len(criteria) < 2 or explicit else ""
    ranks = said.ranks or one
    scales: dict[str, int | str] = {}
    for criterion, part in unread.groupby("criterion", sort=False):
        words = unknown(part["word"], part["value"].to_numpy())
        n = sum(words.values())
        if n > _MOST_LOST * counts[criterion] and not _is_explained(
            words, str(criterion), said
        ):
            scales |= scale_of(words)
            needed = ranks in (criterion, EACH)
            found.append(_of_words(str(criterion), words, part, needed=needed))
    likely = ",".join(f"{word}={n}" for word, n in scales.items())
    found = [
        replace(one, found=likely)
        if likely and one.name == "words" and not one.found
        else one
        for one in found
    ]
    several = "" if said.split_answered else _several(set(rows["system"][rated]))
    if several:
        question = f"{several!r} seems to be several systems in one cell. Is each of them a system?"
        found.append(Choice("split", question, ("yes", "no"), "yes", needed=True))
    if not counts.size and (rows["role"] == Role.PREDICTION.value).any():
        question = (
            "All ratings are by programs, as their raters' names say. Do they count? If "
            "people rated, choose the column of rater."
        )
        counted = Role.PREDICTION.value
        found.append(Choice("counted", question, (counted,), counted, needed=True))
    repeated = int((rows["role"] == Role.SUPERSEDED.value).sum())
    if not said.lost and not any(one.name == "words" and one.needed for one in found):
        found += ask_of_losses(judgments, repeated)
    return found


def ask_of_losses(judgments: Judgments, repeated: int = 0) -> list[Choice]:
    """Return the question whether to import ratings without those that cannot be used."""
    lost = [one for one in judgments.problems if one.fatal]
    n_lost, n = len(lost) + repeated, len(judgments.rows) + len(lost)
    # a problem of no row is one of many
    if n_lost <= _MOST_LOST * n and all(one.row for one in lost):
        return []
    why = [
        f"{repeated:,} repeat another of the same rater, output and criterion"
    ] * bool(repeated)
    why += [f"{len(lost):,} cannot be used, such as {lost[0]}"] if lost else []
    question = f"{n_lost:,} of {n:,} ratings would not count: {'; '.join(why)}. Import the others?"
    return [Choice("lost", question, ("yes",), needed=True)]


def _several(systems: set[str]) -> str:
    """Return a name that consists of others, if many do."""
    counts = Counter(part for name in systems for part in set(BETWEEN.split(name)))
    made = [
        name
        for name in systems
        if len(parts := BETWEEN.split(name)) > 1 and all(counts[p] > 1 for p in parts)
    ]
    whole = sum(name in counts for name in systems)
    return min(made) if len(made) > 0.1 * len(systems) and whole > 1 else ""


def _of_words(
    criterion: str, words: Mapping[str, int], part: pd.DataFrame, *, needed: bool
) -> Choice:
    listed = ", ".join(f"{w[:30]} ({k:,})" for w, k in list(words.items())[:9])
    paired = bool((part["other"] != "").any())
    worth = "first, second, tie or none" if paired else "a number or none"
    name = criterion and f"{criterion}: "
    question = (
        f"What do these words of {criterion or 'the ratings'} count: {listed}? Write "
        f"{name}{next(iter(words))[:30]}={worth}, with commas between."
    )
    signs = {word[:1] for word in words if word.strip("+-0.")}
    if paired and "-" in signs and not np.isnan(numbers(list(words))).any():
        question = (
            f"Is the second system better if {criterion or 'the number'} is positive?"
        )
        options = "+=second,-=first", "+=first,-=second"
        return Choice("words", question, options, options[0], needed=needed)
    keys = {" ".join(word.lower().split()) for word in words}
    found = (
        "yes=1,no=0"
        if keys <= {"yes", "no"}
        else f"{next(iter(words))}=tie"
        if paired and len(words) == 1
        else "0=first,1=second"
        if paired and keys == {"0", "1"}
        else "true=1,false=0"
        if keys <= {"true", "false"} and not paired
        else ""
    )
    return Choice("words", question, tuple(words), found, needed=needed)


def _is_explained(words: Mapping[str, int], criterion: str, said: Chosen) -> bool:
    known = {**said.words.get("*", {}), **said.words.get(criterion, {})}
    left = [w for w in words if " ".join(w.lower().split()) not in known]
    return said.labels or not left
