"""Families of columns: what the numbers and words in their names say."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations, product
from operator import eq
from typing import Any

import numpy as np

from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import Floats
from leaderboard.imports.readers.patterns import (
    NUMBERED,
    Family,
    cross,
    family_between,
    group_brackets,
    group_numbers,
    keys_in,
)
from leaderboard.imports.readers.values import (
    BESIDE,
    CHOICE,
    FILLERS,
    LONG,
    MEASURES,
    RATER,
    RATING,
    UNMARKED,
    UNNAMED,
    WORDS,
    Found,
    Guess,
    Looked,
    Values,
    examples_of,
    lower_words,
    word_set,
)
from leaderboard.imports.readers.words import (
    are_sides,
    is_sided,
    name_one_of,
    side_of,
    worths,
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

    @property
    def numbers_in_name(self) -> list[str]:
        """The parts of a family's names that are numbers, as a rule."""
        parts = [part for part in NUMBERED if part in next(iter(self.fields.values()))]
        return sorted(parts, key=lambda part: self.name.find(f"{{{part}"))

    def rename(self, part: str, wanted: str) -> None:
        for end in ("}", "*}"):
            self.name = self.name.replace(f"{{{part}{end}", f"{{{wanted}{end}")
        for fields in self.fields.values():
            fields |= {wanted: fields.pop(part)} if part in fields else {}


def find_ranks(
    found: Mapping[str, Guess], values: Looked, fixed: Collection[str]
) -> list[Family]:
    """Find columns whose cells of each row are the ranks 1 to n, as of n systems."""
    ranks = {
        name: worths(one.words, {}) for name, one in values.items()
        if one.is_number and name not in fixed and {*one.numbers} <= {*range(1, 21)}
    }  # fmt: skip
    if {"system", "system 1"} & {
        role for n, (role, _) in found.items() if n not in ranks
    }:
        return []
    names, cells = [*ranks], np.array([*ranks.values()])
    places = (
        (i, i + n)
        for i in range(len(names))
        for n in range(3, min(20, len(names) - i) + 1)
    )
    grids = [family_between(names[i:j]) for i, j in places if _are_ranks(cells[i:j])]
    return [one for one in grids if len(group_numbers(one.columns)) > 1]


def _are_ranks(cells: Floats) -> bool:
    rows, right = (
        cells[:, ~np.isnan(cells).any(axis=0)].T,
        np.arange(1.0, len(cells) + 1),
    )
    return (
        len(rows) > 2
        and bool((np.sort(rows[:3]) == right).all() and (rows != rows[0]).any())
        and bool((np.sort(rows) == right).all(axis=1).mean() > 0.9)
    )


def families_of(
    found: Mapping[str, Guess], values: Looked, grids: Sequence[Family] = ()
) -> list[Column]:
    """Join columns whose names differ in numbers or words, and name what these are."""
    by_role: dict[str, list[str]] = {}
    ranked = {name for one in grids for name in one.columns}
    for name, (role, _) in found.items():
        if name not in ranked:
            by_role.setdefault(role, []).append(name)
    context, measures = list[Family](), list[Family]()
    keys = keys_in([name for name, (role, _) in found.items() if role != "ignore"])
    for role in [role for role in by_role if role != "ignore"]:
        grid = group_brackets(by_role[role])
        left = [
            name for name in by_role[role] if not grid or name not in grid[0].columns
        ]
        families = group_numbers(left, keys) + grid
        if role == "rating":
            joined = cross(families)
            if {"system", "system 1"} & by_role.keys():
                # of systems in a column, only raters' initials are crossed with criteria
                joined = [
                    one for one in joined if any(
                        all(map(_INITIALS.fullmatch, one.values(k)))
                        for k in range(one.template.count("{}")))
                ]  # fmt: skip
            inside = {name for one in joined for name in one.columns}
            families = [f for f in families if not inside & set(f.columns)] + joined
        (measures if role in MEASURES else context).extend(families)
    named = Slots(context, measures, set(by_role))
    made = [_column(f, named.names(f), found, values) for f in (*context, *measures)]
    made += _of_ranks(grids, found, values)
    made += [
        Column(name, {name: {}}, *found[name], examples_of(values[name]))
        for name in by_role.get("ignore", ())
    ]
    order = {name: i for i, name in enumerate(found)}
    return sorted(made, key=lambda one: order[next(iter(one.fields))])


def _of_ranks(
    grids: Sequence[Family], found: Mapping[str, Guess], values: Looked
) -> Iterator[Column]:
    """Yield a column for each grid: of a criterion, or of an item if numbers differ."""
    stems = [re.sub(r"\d+", "", one.template) for one in grids]
    for grid, stem in zip(grids, stems, strict=True):
        one = _column(grid, ["system"], found, values)
        about = {"criterion": "rank" if len({*stems}) == 1 else f"{stem}: rank"}
        if len({*stems}) < len(grids):
            about["item"] = "".join(re.findall(r"\d+", grid.template))
        yield replace(one, fields={n: parts | about for n, parts in one.fields.items()})


def name_by_words(rated: Sequence[Column], part: str) -> None:
    """Take the words by which names of columns differ for those of systems, or others."""
    names = [re.sub(r"\{\w*\*?\}", "", one.name) for one in rated]
    family = family_between(names)
    stem = family.template.replace("{}", "").strip(" _-:|/[]().")
    for one, name in zip(rated, names, strict=True):
        for fields in one.fields.values():
            if part not in fields:
                fields |= {part: family.columns[name][0], "criterion": stem}


class Slots:
    """Names of the numbers in families: the same where the same things are numbered.

    Numbers are the same if what is before them in the name is, as in `turns[1].text` and
    `turns[1].score`, or if there are the same ones, as in `text1` and `score1`.
    """

    def __init__(
        self, context: Sequence[Family], measures: Sequence[Family], roles: set[str]
    ) -> None:
        self._roles = roles
        self._known: dict[str | frozenset[str], str] = {}
        for family, k in [
            (f, k) for f in context for k in range(f.template.count("{}"))
        ]:
            if not _is_key(family, k):
                path, numbers_ = _path(family, k), frozenset(family.values(k))
                key = path if path.endswith("[") else numbers_
                parts = ("part", "part2", "part3")
                left = [one for one in parts if one not in self._known.values()]
                self._known[key] = self._known.get(key) or next(iter(left), "")
                self._known.setdefault(numbers_, self._known[key])

    def names(self, family: Family) -> list[str]:
        places = range(family.template.count("{}"))
        rated = [
            np.mean([not RATING.isdisjoint(lower_words(w)) for w in family.values(k)])
            for k in places
        ]
        words = [k for k in places if not family.is_numbered(k)]
        free = [k for k in words if not _is_key(family, k)]
        names = [""] * len(places)
        taken = "system" in self._roles
        for k in sorted({*words} - {*free}):
            other = "rater" if taken and "rater" not in self._roles else "system"
            names[k] = "criterion" if rated[k] >= 0.5 else other
        if free:
            asked = {k: any("?" in word for word in family.values(k)) for k in free}
            criterion = max(free, key=lambda k: (rated[k], asked[k], k))
            # columns named by hashes are items
            names[criterion] = "item" if family.template == "{}" else "criterion"
            for k in free:
                other = "item" if max(map(len, family.values(k))) > LONG else "system"
                if all(map(_INITIALS.fullmatch, family.values(k))) or taken:
                    other = "rater"
                names[k] = names[k] or other * (other not in names)
        for k in sorted({*places} - {*words}):
            names[k] = self._number(family, k, names)
        return names

    def _number(self, family: Family, k: int, names: Sequence[str]) -> str:
        path = _path(family, k)
        known = self._known.get(path) or self._known.get(frozenset(family.values(k)))
        if known and known not in names:
            return known
        word = (WORDS.findall(path) or [""])[-1].lower()
        options = ["rater", "item", "part"]
        has_item = "item" in self._roles
        rated = has_item and (word in RATING or path.endswith("["))
        if "rater" in self._roles or not (rated or word in _OF_RATERS):
            options = ["part"] if has_item else ["item", "part"]
        # else numbers in one cell
        last = "criterion" * (family.template.endswith("[{}]") and k > 0)
        return next((one for one in options if one not in names), last)


#: In the name of one of two columns.
SIDE_WORD = re.compile(
    r"(?i:(?<![^\W_])(?:a|b|l|r|1|2|left|right|first|second)(?![^\W_]))|(?<=[a-z])[ABLR](?![a-z])"
)


def side_in(name: str) -> re.Match[str] | None:
    """Return the side that a name says: a word or a letter, else a number."""
    found = [*SIDE_WORD.finditer(name)]
    return next((one for one in found if not one[0].isdigit()), next(iter(found), None))


_LOSERS = word_set("loser lost loses losing worse worst rejected dispreferred")
_INITIALS = re.compile(r"[A-Z]{2,3}")
_OF_RATERS = RATER | word_set("winner rating score label choice vote preference")


def _path(family: Family, place: int) -> str:
    return "{}".join(family.template.split("{}")[: place + 1])


def _is_key(family: Family, k: int) -> bool:
    around = family.template.split("{}")
    between = around[k].endswith(".") and around[k + 1][:1] == "."
    return between and not family.is_numbered(k)


def _column(
    family: Family, names: list[str], found: Mapping[str, Guess], values: Looked
) -> Column:
    first = next(iter(family.columns))
    role, reason = found[first]
    if len(family.columns) > 1:
        reason = f"{reason} ({len(family.columns):,} columns)"
        if role in MEASURES and (marked := _is_marked(family, values)):
            # one of several cells of a row is filled: its number or word is the answer
            names[-1] = "value" if marked == "name" else ""
    pattern = family.pattern(names) if names else first
    fields = {
        name: {f: p for f, p in zip(names, parts, strict=True) if f}
        for name, parts in family.columns.items()
    }
    return Column(pattern, fields, role, reason, examples_of(values[first]))


def _is_marked(family: Family, values: Looked) -> str:
    """Return "cell" or "name" if each row has one answer in several columns."""
    groups: dict[Any, list[str]] = {}
    for name, parts in family.columns.items():
        groups.setdefault(parts[:-1], []).append(name)
    for names in groups.values():
        rows = zip(*(values[name].words for name in names), strict=True)
        cells = [[w for w in row if w.strip().lower() not in UNMARKED] for row in rows]
        if len(names) < 3 or any(len(row) > 1 for row in cells) or not any(cells):
            return ""
    own = [name for name in family.columns if values[name].answers]
    same = all(
        {*values[name].counts} <= {"1", "true", "True", "on", "1.0"} | UNMARKED
        for name in own
    )
    return "name" if same and len(own) > 1 else "cell"


def find_pairs(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    """Find choices, and the two systems, by cells that name one of the two in each row."""
    short = [
        name
        for name, one in values.items()
        if name not in fixed and 1 < len(one.counts) <= 50
        and found[name][0] not in ("rater", "time", "began")
    ]  # fmt: skip
    free = {n: values[n].counts.keys() for n in short if not values[n].is_number}
    choices = [n for n in free if not values[n].says(_LOSERS)]
    named = [name for name in choices if values[name].says(CHOICE)]

    def is_of(choice: str, first: str, second: str) -> bool:
        return name_one_of(*(values[name].words for name in (choice, first, second)))

    sides = [[n for n, (r, _) in found.items() if r == f"system {k}"] for k in (1, 2)]
    if not any(sides):
        alike = [(c, n) for c in named for n in free if n != c and free[n] & free[c]]
        pairs = [
            [[first], [second]]
            for (choice, first), (same, second) in combinations(alike, 2)
            if choice == same and is_of(choice, first, second)
        ]
        by_rest: dict[str, list[str]] = {}
        few = [one.columns for one in group_numbers(found) if len(one.columns) < 3]
        rated = {
            n.partition("]")[0]
            for n, (r, _) in found.items()
            if r == "rater" and "]" in n
        }
        # the two entries of a list are of two raters
        for name in [
            n
            for columns in few
            for n in columns
            if n in free and n.partition("]")[0] not in rated
        ]:
            by_rest.setdefault(SIDE_WORD.sub("", name), []).append(name)
        many = {n for f in group_numbers(free) if len(f.columns) > 2 for n in f.columns}
        twos = [two for two in by_rest.values() if len(two) == 2 and not many & {*two}]
        pairs += [
            [[a], [b]] for a, b in twos if are_sides(values[a].words, values[b].words)
        ]
        # codes in columns beside each other
        sided = any(
            r == "choice" and is_sided(values[n].counts, only=True)
            for n, (r, _) in found.items()
        )
        pairs += [
            [[a], [b]] for a, b in pairwise(short)
            if sided and not pairs and found[a][0] == found[b][0] == "ignore"
            and are_sides(values[a].words, values[b].words)
            and not any(map(eq, values[a].words, values[b].words))
        ]  # fmt: skip
        # the other of the two may have no column
        pairs += [[[], [n]] for c, n in alike if _has_other(values[c], values[n])]
        sides = next(iter(pairs), sides)
        for k, names in enumerate(sides, 1):
            found |= dict.fromkeys(
                names, (f"system {k}", "one of the two that are named")
            )
    if [len(names) for names in sides] == [1, 1]:
        first, second = sides[0][0], sides[1][0]
        fitting = [
            n for n in choices if n not in (first, second) and is_of(n, first, second)
        ]
        fitting = [n for n in fitting if n in named] or fitting
        found |= dict.fromkeys(fitting, ("choice", f"it names {first} or {second}"))
        numbered = [
            name
            for name in short
            if values[name].is_number
            and (found[name][0] == "rating" or found[name][1].endswith(UNNAMED))
            and not any(role == "choice" for role, _ in found.values())
        ]
        signed = [
            n for n in numbered if min(values[n].numbers) < 0 < max(values[n].numbers)
        ]
        found |= {
            name: ("choice", f"{found[name][1]}, beside two systems")
            for name in [n for n in numbered if values[n].says(CHOICE)] or signed
        }


OF_TWO = "it names one of the two that were compared"
_PLACES = {*"0123456789abcdefghij"}
_ENDS = {"best": word_set("best most"), "worst": word_set("worst least")}


def find_ends(found: Found, values: Looked, fixed: Mapping[str, str]) -> None:
    """Find the best and the worst of several, by words or first letters of names."""
    free = [
        name
        for name, (role, _) in found.items()
        if role in ("choice", "words", "ignore", "rating")
        or (role == "system" and values[name].says(CHOICE | _LOSERS))
    ]
    reason = "by its name, beside the other end"
    # numbers of places, of which a row never has the same twice
    places = [
        name for two in permutations([n for n in free if values[n].is_number], 2)
        if all(values[n].says(words) for n, words in zip(two, _ENDS.values(), strict=True))
        and not any(map(eq, *(values[n].words for n in two))) for name in two
    ]  # fmt: skip
    fitting = {
        role: [
            name
            for name in free
            if values[name].says(words)
            and (not values[name].is_number or name in fixed or name in places)
        ]
        for role, words in _ENDS.items()
    }
    named: dict[str, Iterable[str]] = {
        role: group_numbers(names)[0].columns
        for role, names in fitting.items()
        if names
    }
    if len(named) < 2 and not any(r == "system 1" for r, _ in found.values()):
        # the chosen and the rejected of two
        two = ([n for n in free if values[n].says(words) and not values[n].is_number]
               for words in (CHOICE, _LOSERS))  # fmt: skip
        for a, b in product(*two):
            same = map(eq, values[a].words, values[b].words)
            if values[a].counts.keys() & values[b].counts.keys() and not any(same):
                named, reason = {"best": [a], "worst": [b]}, OF_TWO
    if len(named) < 2:
        # `BH1` and `WH1` name two texts, never the same
        best, worst = (
            {n[1:]: n for n in free if n[:1].lower() == role[0]} for role in _ENDS
        )
        rests = [rest for rest in best if rest in worst]
        named = {
            "best": [best[rest] for rest in rests],
            "worst": [worst[rest] for rest in rests],
        }
        ends = [[w for n in names for w in values[n].words] for names in named.values()]
        rows = [row for row in zip(*ends, strict=True) if all(row)]
        if len(rests) < 2 or len(rows) < 10 or any(a == b for a, b in rows):
            return
    for role, names in named.items():
        found |= dict.fromkeys(names, (role, reason))
    marked = values[next(iter(named["best"]))].words
    ignored = [name for name, (role, _) in found.items() if role == "ignore"]
    for family in group_numbers(ignored):
        cells = [*zip(*(values[name].words for name in family.columns), strict=True)]
        few = 4 * len({word for row in cells for word in row}) <= len(cells)
        pairs = zip(marked, cells, strict=True)
        shown = [
            one.strip() in map(str.strip, row)
            or (few and len({*row}) == len(row) and one.strip().lower() in _PLACES)
            for one, row in pairs if one
        ]  # fmt: skip
        if len(family.columns) > 2 and shown and sum(shown) >= 0.9 * len(shown):
            why = "system", "the best is one of these"
            found |= dict.fromkeys(family.columns, why)


def _has_other(choice: Values, one: Values) -> bool:
    rows = zip(choice.words, one.words, strict=True)
    left = {w for w, name in rows if w not in ("", name) and side_of(w) != 0.5}
    return 0 < len(left) < 3 and not left & one.counts.keys()


def ask_fillers(made: Sequence[Column], values: Looked) -> Iterator[Choice]:
    """Ask whether ratings count beside texts that only fill places, such as BLANK."""
    numbered = {
        frozenset(fields[part] for fields in one.fields.values())
        for one in made
        for part in next(iter(one.fields.values()))
        if one.role in MEASURES
    }
    for family in group_numbers(
        name for one in made if one.role not in MEASURES for name in one.fields
    ):
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


def leave_derived(made: list[Column], values: Looked) -> None:
    """Ignore columns that are the means of others, by name or by value."""
    measures = [one for one in made if one.role == "rating"]
    for one in measures:
        for other in measures:
            if len(other.fields) > len(one.fields) and _is_mean_of(one, other, values):
                one.role, one.reason = "ignore", f"the mean of {other.name}"
                if len(one.fields) == 1 and "rater" not in other.name:
                    other.rename("part" if "{part" in other.name else "item", "rater")
    single = [one for one in measures if [*one.fields] == [one.name]]
    for one in single:
        ends = {o.name: o.name.removeprefix(one.name) for o in single if o is not one}
        fields = {
            n: {"rater": end} for n, end in ends.items() if n != end and len(end) < 3
        }
        joined = Column(
            f"{one.name}{{rater}}", fields, "rating", one.reason, one.examples
        )
        if _is_mean_of(one, joined, values):
            one.role, one.reason = "ignore", f"the mean of {joined.name}"
            made[:] = [o for o in made if o.name not in fields] + [joined]
    cells = {
        name: np.nan_to_num(values[name].floats)
        for one in measures
        for name in one.fields
        if len(one.fields) == 1
    }
    for one in [one for one in measures if one.reason.startswith(BESIDE)]:
        rest = [other for name, other in cells.items() if name not in one.fields]
        own = cells.get(next(iter(one.fields)), np.zeros(1))
        of = (f(rest, axis=0) for f in (np.min, np.sum, np.mean) if len(rest) > 1)
        if len({*own}) > 1 and any(np.allclose(own, each, atol=0.01) for each in of):
            one.role = "ignore"
            one.reason = "the least, the sum or the mean of the other ratings"


def leave_unnamed(made: Sequence[Column]) -> None:
    """Ignore ratings of no system where the names of most say theirs."""
    measures = [one for one in made if one.role == "rating"]
    left = [one for one in measures if "system" not in next(iter(one.fields.values()))]
    n, n_left = (sum(len(one.fields) for one in some) for some in (measures, left))
    if not any(one.role == "system" for one in made) and n_left <= n / 2:
        for one in left:
            one.role = "ignore"
            one.reason = "its name says no system, and others' names do"


def _is_mean_of(one: Column, other: Column, values: Looked) -> bool:
    n_near = 0
    for name, fields in one.fields.items():
        parts = [
            values[n].floats
            for n, more in other.fields.items()
            if n.startswith(name) or fields.items() < more.items()
        ]
        if len(parts) < 2:
            return False
        own = values[name].floats
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            means = np.nanmean(parts, axis=0)
        apart = np.abs(own - means)
        n_near += (apart < 0.01).sum() > 0.7 * (~np.isnan(apart)).sum()
    return n_near > len(one.fields) / 2
