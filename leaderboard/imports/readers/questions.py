"""What files of ratings cannot tell, as questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.imports.readers.families import OF_TWO, Column
from leaderboard.imports.readers.judgments import Judgments, Role
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import (
    CONSTANT,
    EACH,
    NAMED,
    ROLES,
    SIDES,
    Chosen,
    read_words,
)
from leaderboard.imports.readers.melt import Cells, criterion_of
from leaderboard.imports.readers.names import numbers
from leaderboard.imports.readers.patterns import family_between, is_pattern
from leaderboard.imports.readers.values import (
    AGAIN,
    LIKELY,
    MEASURES,
    OF_FILE,
    RATING,
    UNNAMED,
    Looked,
    lower_words,
    no_answer,
    word_set,
)
from leaderboard.imports.readers.words import YES_NO, scale_of, side_of, unknown

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
            "Which columns hold the ratings (commas between; the first ranks), or which one the "
            "choice?",
            options,
            needed=True,
        )
    elif (
        kinds := _kinds_of_raters(of["rating"]) if "rating" not in said.columns else ()
    ):
        yield Choice(
            "rating",
            f"Two groups of raters have the same criteria: {' and '.join(kinds)}. Which "
            "ratings count?",
            (*kinds, ",".join(kinds).replace("{rater}", "{}")),
            needed=True,
        )
        return
    ranks = [o.name for o in of["ignore"] if o.reason.startswith("numbers named “rank")]
    coded = [one for one in of["rating"] if one.reason.startswith("few numbers")]
    if ranks and coded and len(coded) == len(measures) and "rating" not in said.columns:
        rated = ",".join(one.name for one in coded)
        question = f"Are the ratings {rated}, or the ranks {','.join(ranks)}?"
        yield Choice(
            "rating", question, (rated, ",".join(ranks)), ranks[0], needed=True
        )
    fields = [fields for one in measures for fields in one.fields.values()]
    pairs = all(
        of[f"system {k}"]
        or said.constant(f"system {k}")
        or (fields and all(f"system_{k}" in one for one in fields))
        for k in (1, 2)
    )
    named = all("system" in one for one in fields) and bool(fields)
    # a system of all rows is none of two
    single = any(len(one.examples) > 1 for one in of["system"])
    in_words = any(
        np.isnan(numbers(one.examples)).any() or {*one.examples} == {"0", "1"}
        for one in of["choice"]
    ) and not (single or said.constant("system"))
    if of["choice"] and not of["rating"] and (pairs or in_words):
        if not pairs:
            known = {k: one.examples for k in (1, 2) for one in of[f"system {k}"]}
            yield from _two_systems(
                of["choice"],
                said,
                options,
                known,
                _places_of(columns),
            )
        return
    free = [] if "rating" in said.columns else of["rating"]
    two = [one for one in free if len(one.numbers_in_name) > 1]
    orders = _orders(of["rating"], "item" if of["rater"] else "rater") if two else ()
    if two and said.numbers:
        name = next(iter(two[0].fields))
        yield Choice(
            "rating",
            f"The names of ratings such as {name} have two numbers. Which is whose?",
            orders,
            orders[0],
            needed=True,
        )
        return
    unnamed = [one.name for one in coded if not is_pattern(one.name)]
    has_system = of["system"] or named or said.constant("system")
    numbered = [*_unknown_numbers(columns, coded, said, () if has_system else orders)]
    two_words = {"system", "criterion"}
    words = [
        one for one in coded if next(iter(one.fields.values())).keys() == two_words
    ]
    open_ = not (numbered or of["rater"] or said.names or "rating" in said.columns)
    if words and open_:
        name, first = words[0].name, next(iter(words[0].fields))
        swapped = name.replace("{system", "{rater").replace("{criterion", "{system")
        turned = name.replace("{criterion", "{rater"), swapped
        question = f"Names of ratings have two words, as {first}. Which is whose?"
        numbered = [Choice("rating", question, (*turned, name), turned[0], needed=True)]
    yield from numbered
    if any(one.name == "rating" for one in numbered):
        return  # one of the numbers may be that of the system
    alone = [one.name for one in of["rating"] if not next(iter(one.fields.values()))]
    if has_system and not (of["rater"] or said.names) and _share_stem(alone):
        question = f"Do the names of {', '.join(alone[:6])} differ by their raters?"
        yield Choice("names", question, (*NAMED,), "raters", needed=True)
    elif len(unnamed) > 1 and not said.names and not (has_system and of["rater"]):
        # whether they are criteria is seen where these, or the system, are asked for
        question = f"What do the names of the columns of numbers say: {', '.join(unnamed[:6])}?"
        people = (
            bool(has_system)
            and all(map(_PERSON.fullmatch, unnamed))
            and not all(name[:1].isupper() for name in names)
        )
        found = "raters" if people else "criteria"
        yield Choice("names", question, (*NAMED,), found, needed=people)
    two = [one for one in of["best"] if one.reason.startswith(OF_TWO)]
    if of["best"] and not (two or has_system or pairs or "system" in said.columns):
        yield Choice(
            "system",
            "Which columns name the systems that were shown in each row (commas between)? "
            "If no column does, :* takes all that are ever named; a system that never was is "
            f"missing then.{' :none compares the two ends alone.' * bool(of['worst'])}",
            options,
            f"{CONSTANT}{EACH}",
            needed=True,
        )
    elif not (has_system or pairs or of["best"]) and measures:
        # the first other column of a few words, such as a condition's
        likely = [
            one.name
            for reason in (LIKELY, AGAIN)
            for one in columns
            if one.role == "ignore" and one.reason == reason
        ] + [one.name for one in columns if one.name in OF_FILE]
        in_names = " or ".join(f"rating={one}" for one in orders)
        yield Choice(
            "system",
            "Which column names the systems? If all rows are of one, write its name after "
            "a colon (:NAME); if the number in the name of a rating column is that of a "
            f"system, {f'choose {in_names}' if orders else 'add numbers=systems'}, and if the whole name is, "
            "names=systems.",
            options,
            found=next(iter(likely), ""),
            needed=True,
        )


# `Anna` or `AK`, beside names in small letters.
_PERSON = re.compile(r"[A-ZÀ-Þ][a-zß-ÿ]+|[A-Z]{2,3}")


def _share_stem(names: Sequence[str]) -> bool:
    """Check for names such as `score_ana`, whose other words are of a rating."""
    if len(names) < 2:
        return False
    family = family_between(names)
    ends = [{*lower_words(" ".join(family.columns[name]))} for name in names]
    stem = RATING & {*lower_words(family.template)}
    return (
        bool(stem) and all(ends) and not any(one & (RATING | _OF_ALL) for one in ends)
    )


# Words of columns that sum up.
_OF_ALL = word_set(
    "mean average avg median total sum final std sd majority agreed gold"
)


def _unknown_numbers(
    columns: Sequence[Column],
    coded: Sequence[Column],
    said: Chosen,
    more: Sequence[str],
) -> Iterator[Choice]:
    """Ask what the numbers in `Q3_2` count, unless other columns have them, too."""
    known = {
        part
        for one in columns
        if one.role not in (*MEASURES, "ignore")
        for fields in one.fields.values()
        for part in fields
    } | {"rater", "criterion"}
    open_ = [
        one
        for one in coded
        if {*one.numbers_in_name} - known
        and "criterion" not in next(iter(one.fields.values()))
        and re.sub(r"\{\w*\*?\}", "", one.name)
    ]
    if not open_ or said.numbers or "rating" in said.columns:
        return
    name, parts = next(iter(open_[0].fields)), open_[0].numbers_in_name
    question = f"Names of ratings such as {name} have numbers. What do they count?"
    if len(parts) == 1:
        yield Choice("numbers", question, (*NAMED,), "items", needed=True)
    if len(parts) > 1:
        names = ",".join(one.name for one in open_)
        orders = [re.sub(rf"\{{{k}\b", "{criterion", names) for k in ("item", "part")]
        orders = [*more, names, *orders]
        yield Choice("rating", question, tuple(orders), orders[0], needed=True)


def _kinds_of_raters(ratings: Sequence[Column]) -> list[str]:
    """Return a pattern for each of two groups, such as `experts[{rater}].{criterion}`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in ratings:
        before, *rest = re.split(r"\{\w+\*?\}", one.name)
        name, fields = next(iter(one.fields.items()))
        cells = Cells(name, "", fields, np.array([]), one.name)
        criterion = criterion_of(cells, alone=False)
        if one.numbers_in_name and rest and criterion and criterion in rest[-1]:
            after = "{}".join(rest).replace(criterion, "{criterion}")
            groups.setdefault((criterion, after), []).append(before)
    found = ((k[1], befores) for k, befores in groups.items() if len(befores) > 1)
    after, befores = next(found, ("", []))
    return [f"{before}{{rater}}{after}" for before in befores]


def _orders(ratings: Sequence[Column], other: str) -> tuple[str, ...]:
    longest = max(ratings, key=lambda one: len(one.numbers_in_name))
    fields, parts = next(iter(longest.fields.values())), longest.numbers_in_name
    # letters are likelier systems
    parts.sort(key=lambda part: fields[part].isdigit())
    number = re.compile(rf"\{{({'|'.join(parts)})\b")

    def rename(k: str, one: Column) -> str:
        return number.sub(lambda m: "{system" if m[1] == k else f"{{{other}", one.name)

    return tuple(",".join(rename(k, one) for one in ratings) for k in parts)


def _two_systems(
    choice: Sequence[Column],
    said: Chosen,
    options: tuple[str, ...],
    known: Mapping[int, Sequence[str]],
    texts: list[str],
) -> Iterator[Choice]:
    names = [
        w
        for w in choice[0].examples
        if np.isnan(side_of(w)) and w not in chain(*known.values())
    ]
    if len(names) > 2:
        yield Choice(
            "best",
            f"{choice[0].name} names several: {', '.join(names)}, … Is each the best of those "
            "that were shown? If it is a choice between two, choose system 1 and system 2.",
            options,
            choice[0].name,
            needed=True,
        )
        return
    names = [w for w in names if any(w in one for one in options)] or names
    left = [k for k in (1, 2) if not (said.columns.get(f"system {k}") or k in known)]
    likely = names if len(names) == len(left) else texts
    both = len(left) == 2 and likely == texts
    for k in left[: 1 if both else 2]:
        found = f"{CONSTANT}{likely[-k] if len(likely) == 2 else likely[0]}"
        second = f" After {found}, the second is {CONSTANT}{texts[0]}." if both else ""
        yield Choice(
            f"system {k}",
            f"Which system is the {('first', 'second')[k - 1]} of the two? Choose a "
            f"column, or write a name after a colon (:NAME).{second}",
            options,
            found,
            needed=True,
        )


def _places_of(columns: Sequence[Column]) -> list[str]:
    """Return the names of the second and the first text, or of the two places."""
    texts = [o.name for k in (2, 1) for o in columns if o.role == f"text {k}"]
    return [texts[0], texts[-1]] if len(texts) > 1 else ["second", "first"]


def add_second(said: Chosen, columns: Sequence[Column]) -> Chosen:
    """Return the answers with the second of two places, if the first is a system."""
    second, first = _places_of(columns)
    if said.constant("system 1") != first or said.columns.get("system 2"):
        return said
    more = {"system 2": (f"{CONSTANT}{second}",)}
    return replace(said, columns={**said.columns, **more})


# Guesses about them hold if a person confirmed what is shown beside them.
_SURE = ("ranks", "counts", "split", "rater", "criterion", "words")


def sure_guesses(asked: Sequence[Choice]) -> list[Choice]:
    """Return the open questions if each has a sure guess, else none."""
    open_ = [one for one in asked if one.needed]
    tables = read_words(",".join(one.found for one in asked if one.name == "words"))
    known = {word for table in tables.values() for word in table}
    words = {w for one in asked if one.name == "words" for w in one.options}
    # sides are no sure guess, and all words are answered together
    left = {" ".join(word.lower().split()) for word in words} - known
    left |= {
        side for table in tables.values() for side in table.values() if side in SIDES
    }
    sure = all(
        one.name in _SURE and one.found and not (one.name == "words" and left)
        for one in open_
    )
    return open_ if sure else []


def asked_of(
    judgments: Judgments, columns: Sequence[Column], said: Chosen
) -> list[Choice]:
    rows = judgments.rows
    found: list[Choice] = []
    rated = rows["role"].isin([role.value for role in said.counted])
    counts = rows["criterion"][rated].value_counts(sort=False)
    criteria = list(map(str, counts.index))
    # of a list, the first ranks
    listed = [one for role in MEASURES for one in said.columns.get(role, ())]
    explicit = len(listed) > 1 and not is_pattern(listed[0]) and not said.may_lack
    ranks = said.ranks or "".join(criteria[:1]) * (len(criteria) < 2 or explicit)
    if len(criteria) > 1 and not ranks:
        likely = next((c for c in criteria if "overall" in c.lower()), criteria[0])
        other = [one.name for one in columns if one.reason.endswith(UNNAMED)]
        few = [
            o for o in columns if o.role == "rating" and o.reason.startswith("few num")
        ]
        question = "Which criterion ranks the systems?" + bool(other) * (
            " Other columns are ignored unless rating=… lists all ratings, the first of which "
            f"ranks: {', '.join(other[:20])}."
        ) + bool(few) * (
            " If these are names of raters, systems or items, answer names=… instead."
        )  # fmt: skip
        found.append(Choice("ranks", question, tuple(criteria), likely, needed=True))
    scales: dict[str, int | str] = {}
    ids = [
        o
        for o in columns
        if o.role == "rating" and lower_words(o.name)[-1:] == ["label"]
    ]
    words = dict(rows["word"][rated].value_counts()) if ids else {}
    explained = {*said.words.get("*", {}), *(said.words.keys() - {"*"})}
    if len(criteria) == 1 and explained.isdisjoint(words) and "" not in explained and (
        words and rows["value"][rated].min() > 1):  # fmt: skip
        question = (
            f"The numbers of label may be ids of labels: {', '.join(map(str, words))}. "
            "Write what each counts, as 7=2,8=1; 7=7 if they are ratings."
        )
        found.append(Choice("words", question, tuple(words), needed=True))
    unread = rated & rows["value"].isna()
    for criterion, part in rows[unread].groupby("criterion", sort=False):
        words = unknown(part["word"], part["value"].to_numpy())
        many = sum(words.values()) > _MOST_LOST * counts[criterion]
        known = {**said.words.get("*", {}), **said.words.get(str(criterion), {})}
        keys = {" ".join(word.lower().split()) for word in words}
        if many and not (said.labels or keys <= known.keys()):
            scales |= {
                w if scales.get(w, n) == n else f"{criterion}: {w}": n
                for w, n in scale_of(words).items()
                if not any(part["other"])
            }
            needed = ranks in (criterion, EACH)
            found.append(_of_words(str(criterion), words, part, needed=needed))
    worths = [f"{word}={n}" for word, n in scales.items()]
    likely = ",".join(f'"{one}"' if "," in one else one for one in worths)
    found = [
        replace(one, found=one.found or likely) if one.name == "words" else one
        for one in found
    ]
    several = "" if said.split_answered else _several(set(rows["system"][rated]))
    if several:
        question = f"{several!r} seems to be several systems in one cell. Is each of them a system?"
        found.append(Choice("split", question, ("yes", "no"), "yes", needed=True))
    elif not said.split_answered and (mark := _mark_of_sets(rows[rated])):
        name = rows["system"][rated].iloc[0]
        question = f"Names of systems such as {name!r} begin as all others of their item, and go on as others of other items. Is only the part after {mark} the system?"
        options = f"after {mark}", "no"
        found.append(Choice("split", question, options, options[0], needed=True))
    if not counts.size and (rows["role"] == Role.PREDICTION.value).any():
        question = (
            "All ratings are by programs, as their raters' names say. Do they count? If "
            "people rated, choose the column of rater."
        )
        counted = Role.PREDICTION.value
        found.append(Choice("counted", question, (counted,), counted, needed=True))
    open_ones = int((rows["role"] == Role.NAMES_SHOWN.value).sum())
    if open_ones > _MOST_LOST * len(rows):
        usual = Role.JUDGMENT.value
        options = usual, f"{usual},{Role.NAMES_SHOWN.value}"
        question = f"{open_ones:,} ratings are of raters who saw the names of systems. Do they count?"
        found.append(Choice("counted", question, options, usual, needed=True))
    repeated = int((rows["role"] == Role.SUPERSEDED.value).sum())
    files = [
        one.name for one in columns if one.name in OF_FILE and one.role == "ignore"
    ]
    apart = rows["file"].nunique() > 1 and len(criteria) == 1
    if files and apart and repeated > _MOST_LOST * len(rows):
        question = "The same rater rated the same outputs in several files. Which column names the criterion?"
        found.append(Choice("criterion", question, tuple(files), files[0], needed=True))
    elif not said.lost and not any(one.name == "words" and one.needed for one in found):
        found += ask_of_losses(judgments, repeated)
    return found


# Names of what should be rare or small, unless the name says that it is not there.
_LOWER = re.compile(
    r"hallucinat|error|mistake|severity|toxic|contradict|inconsist|incorrect|incoher"
    r"|irrelevan|unsubstantiated|superfluous|\berr\b|rank(s|ing)?$"
)
_NEGATED = re.compile(r"\b(no|non|not|free|without|absence|lack|recovery)\b|=")


def guess_lower(judgments: Judgments) -> list[str]:
    """Return criteria whose name says that lower is better, and that rise with no others."""
    table = judgments.judged.query("other == ''").pivot_table(
        index=["file", "row"], columns="criterion", values="value"
    )
    words = {name: " ".join(lower_words(name)) for name in map(str, table)}
    named = [
        name
        for name, one in words.items()
        if _LOWER.search(one) and not _NEGATED.search(one) and table[name].min() >= 0
    ]
    others = table.drop(columns=named).mean(axis=1)
    return [
        name
        for name in named
        if not table[name].corr(others) * table[name].count() ** 0.5 > 2
    ]


def usual_words(
    columns: Sequence[Column], values: Looked, said: Chosen
) -> dict[str, float | str]:
    """Return what words of ratings count unless a person says: yes, no, and codes as -9."""
    families = [
        [values[n] for n in one.fields] for one in columns if one.role == "rating"
    ]
    rated = [one for family in families for one in family if one.answers]
    cells = [np.concatenate([one.floats for one in family]) for family in families]
    codes = [no_answer(one) for one in cells]
    valid = {n for own, one in zip(codes, cells, strict=True) for n in {*one} - {own}}
    none = {*codes} - {None} - valid
    found: dict[str, float | str] = {
        w: "none"
        for one in rated
        for w in one.counts
        if none and numbers([w])[0] in none
    }
    if len({one.is_number for one in rated if one.is_number or one.is_yes_no}) > 1:
        found |= YES_NO
    return {w: n for w, n in found.items() if w not in said.words.get("*", {})}


def ask_of_losses(judgments: Judgments, repeated: int = 0) -> list[Choice]:
    """Return the question whether to import ratings without those that cannot be used."""
    lost = [one for one in judgments.problems if one.fatal]
    n_lost, n = len(lost) + repeated, len(judgments.rows) + len(lost)
    # a problem of no row is one of many
    if n_lost <= _MOST_LOST * n and all(one.row for one in lost):
        return []
    again = f"{repeated:,} repeat another of the same rater, output and criterion"
    why = [again] * bool(repeated) + [
        f"{len(lost):,} cannot be used, such as {one}" for one in lost[:1]
    ]
    question = f"{n_lost:,} of {n:,} ratings would not count: {'; '.join(why)}. Import the others?"
    return [Choice("lost", question, ("yes",), needed=True)]


def _several(systems: set[str]) -> str:
    counts = Counter(part for name in systems for part in set(BETWEEN.split(name)))
    made = [
        name
        for name in systems
        if len(parts := BETWEEN.split(name)) > 1 and all(counts[p] > 1 for p in parts)
    ]
    whole = sum(name in counts for name in systems)
    return min(made) if len(made) > 0.1 * len(systems) and whole > 1 else ""


def _mark_of_sets(rows: pd.DataFrame) -> str:
    """Return the mark after the name of a data set in names of systems, "" if none is."""
    systems = set(rows["system"])
    pairs = set(zip(rows["instance"], rows["system"], strict=True))
    for mark in "_-:| ":  # a slash joins columns
        sets, names = ({s.partition(mark)[k] for s in systems} for k in (0, 2))
        of_items = {(item, system.partition(mark)[0]) for item, system in pairs}
        if (
            len(sets) > 1 < len(names)
            and "" not in names
            and len(systems) == len(sets) * len(names)
            and len(of_items) == len({item for item, _ in pairs})
        ):
            return mark
    return ""


def _of_words(
    criterion: str, words: Mapping[str, int], part: pd.DataFrame, *, needed: bool
) -> Choice:
    row = dict(zip(part["word"], part["row"], strict=True))
    listed = ", ".join(
        f"{w[:30]} ({k:,})" if k > 1 else f"{w[:30]} (1, in row {row[w]:,})"
        for w, k in list(words.items())[:9]
    )
    paired = bool((part["other"] != "").any())
    worth = "first, second, tie or none" if paired else "a number or none"
    name = criterion and f"{criterion}: "
    question = (
        f"What do these words of {criterion or 'the ratings'} count: {listed}? Write "
        f"{name}{next(iter(words))[:30]}={worth}, with commas between."
    )
    signs = {word[:1] for word in words if word.strip("+-0.")}
    if paired and "-" in signs and not np.isnan(numbers(list(words))).any():
        of = criterion or "the number"
        question = f"Is the second system better if {of} is positive?"
        words = dict.fromkeys(("+=second,-=first", "+=first,-=second"), 0)
    keys = {" ".join(word.lower().split()) for word in words}
    found = (
        next(iter(words))
        if "+=second,-=first" in words
        else "yes=1,no=0"
        if keys <= {"yes", "no"}
        else f"{next(iter(words))}=tie"
        if paired and len(words) == 1
        else "0=first,1=second"
        if paired and keys == {"0", "1"}
        else ""
    )
    return Choice("words", question, tuple(words), found, needed=needed)
