"""Patterns of column names: `rating_{rater}`, `{system}-{criterion}`, `turns[{part}].text`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import prod
from string import ascii_lowercase
from typing import Any

import numpy as np

from genie.lib.errors import GenieError

#: Parts of a pattern; `{part}` numbers what stands together, `{value}` is the answer if
#: the cell is marked, and `{}` means nothing.
PARTS = (
    "system", "item", "criterion", "rater", "part", "part2", "part3", "value",
    # of names of files and of cells
    "set", "kind", "system_1", "system_2",
)  # fmt: skip
NUMBERED = ("part", "part2", "part3", "rater", "item")
_FIELD = re.compile(r"\{(\w*)(\*?)\}")
_SEPARATORS = "_-.:|/ "
_MARKS = re.compile(rf"[{re.escape(_SEPARATORS)}]+|[\[\]]")
# Only those next to a part, if no name has parts without the others.
_BESIDE = re.compile(rf"(?:{_MARKS.pattern})(?=\0)|(?<=\0)(?:{_MARKS.pattern})")
_CUT = re.compile(rf"([{re.escape(_SEPARATORS)}]+)")
_DIGITS = re.compile(r"\d+")
# A key of an object, marked on both sides, or a number.
_PLACE = re.compile("\1[^\1]*\1|[0-9]+")
_GRID = re.compile(r"(.*\S)\s*\[([^\[\]]*[^\W\d][^\[\]]*)\]", re.DOTALL)
# `Q1_A`, but not in `Model A`, which is a name.
_LETTER = re.compile(r"(?<![^\W\d_])(?<![^\W\d_] )[A-Za-z](?![^\W\d_])")
_AGAIN = re.compile(r"(.*)( \(\d+\))", re.DOTALL)
# Columns without names need not be alike.
_NAMELESS = re.compile(r"column \d+")
# The ends of a scale after a name, as in `human_1_5`, are no numbers, either.
_OF_SCALE = re.compile(r"[ _(-][01](?:_|-| ?to ?)(?:[1-79]|100?)\)?$")
# Hashes and keys among names are no numbers.
_HASH = re.compile(r"(?=.*\d)[0-9a-fA-F-]{16,}")


def is_pattern(name: str) -> bool:
    return _FIELD.search(name) is not None


def matches(pattern: str, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the fields of each column that has a pattern.

    A part has no mark that separates parts in the pattern, unless a star follows its
    name: `{system*}`. Numbers are preferred for `{part}`, `{rater}` and `{item}`. Raises
    "bad-pattern".
    """
    names = [name for name, _ in _FIELD.findall(pattern) if name]
    if len(pattern) > 300 or set(names) - set(PARTS) or len(names) > len(set(names)):
        raise GenieError(
            f"A pattern has {', '.join('{' + one + '}' for one in PARTS)}, each at most "
            f"once, and {{}}; {pattern[:60]!r} has not.",
            code="bad-pattern",
        )
    text = _FIELD.sub("\0", pattern)
    starred = _FIELD.sub(lambda m: f"{{{m[1]}{'*' * bool(m[1])}}}", pattern)
    for parts, numbered, marks in (
        (pattern, NUMBERED, _MARKS),
        (pattern, (), _MARKS),
        (pattern, (), _BESIDE),
        (starred, NUMBERED, _MARKS),
        (starred, (), _MARKS),
    ):
        expression = _compile(parts, numbered, marks.findall(text))
        found = {
            name: m.groupdict() for name in columns if (m := expression.fullmatch(name))
        }
        if found:
            return _with_repeated(pattern, found, columns)
    return {}


def _with_repeated(
    pattern: str, found: dict[str, dict[str, str]], columns: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Add columns of one name: the first has no ` (1)`, and others are further numbers.

    Without a number in the pattern, they get one: their part.
    """
    numbered_ = re.search(r"( \()?\{(\w+)\}\)?$", pattern)
    if numbered_ and (stem := pattern[: numbered_.start()]) in columns:
        ends = {fields[numbered_[2]] for fields in found.values()}
        if numbered_[1] or ("2" in ends and "1" not in ends):
            return {stem: {numbered_[2]: "1"}, **found}
    last = [one for one, _ in _FIELD.findall(pattern) if one in NUMBERED][-1:]
    for name in columns:
        again = _AGAIN.fullmatch(name)
        if again and again[1] in found and name not in found:
            first = found[again[1]]
            number = f"{first[last[0]]}{again[2]}" if last else again[2].strip(" ()")
            found[name] = {**first, (*last, "part")[0]: number}
    if any("part" in fields for fields in found.values()):
        found = {
            name: {**fields, "part": fields.get("part", "1")}
            for name, fields in found.items()
        }
    return found


def parts_in(words: Collection[str]) -> str:
    """Return a pattern by which each word names a system and an item, "" if none does.

    Systems have the same items, as in `a_1`, `a_2`, `b_1`, `b_2`.
    """
    first = next(iter(words), "")
    *before, after = _DIGITS.split(re.sub(r"\.[a-z]\w{1,3}$", ".{}", first))
    ends = [("{system*}", f"{mark}{{item}}{after}") for mark in _SEPARATORS if before]
    ends += [("{system*}", f"{mark}{{item}}") for mark in _SEPARATORS if mark in first]
    cut = [("{system}", f"{mark}{{item*}}") for mark in _SEPARATORS if mark in first]
    turned = [("{item*}", f"{mark}{{system}}") for mark in _SEPARATORS if mark in first]
    fitting = dict[str, Any]()
    for pattern in map("".join, [*ends, *cut, *turned, ("{item}", "{system}")]):
        items = defaultdict[str, set[str]](set)
        for fields in (found := matches(pattern, [*words])).values():
            items[fields["system"]].add(fields["item"])
        all_ = set().union(*items.values())
        numbered = "{item*}" in pattern or all(re.search(r"\d", one) for one in all_)
        if len(found) == len(words) and numbered and 1 < len(items) < 20 and len(all_) > 1 and (
            10 * len(words) >= 7 * len(all_) * len(items)):  # fmt: skip
            # items are numbered, and systems are not
            coded = (
                np.mean([bool(re.search(r"\d", one)) for one in some])
                for some in (all_, items)
            )
            fitting[pattern] = next(coded) - next(coded)
    best = max(fitting, key=fitting.__getitem__, default="")
    return best if best and fitting[best] >= 0 else ""


def _compile(
    pattern: str, numbered: Sequence[str], marks: Sequence[str]
) -> re.Pattern[str]:
    apart = "|".join(sorted({re.escape(mark) for mark in marks}))
    one = f"(?:(?!{apart}).)+?" if marks else ".+?"
    parts, end = [], 0
    for match in _FIELD.finditer(pattern):
        literal = re.escape(pattern[end : match.start()])
        parts.append(literal.replace("_", " ?_ ?").replace(r"\-", r" ?\- ?"))
        inner = r"\d+" if match[1] in numbered else ".+?" if match[2] else one
        parts.append(f"(?P<{match[1]}>{inner})" if match[1] else f"(?:{inner})")
        end = match.end()
    return re.compile("".join(parts) + re.escape(pattern[end:]), re.DOTALL)


@dataclass(frozen=True)
class Family:
    """Columns whose names differ in numbers or words at the same places.

    `template` has `{}` at these places, and `columns` what each name has there. If
    `lettered`, single letters count as numbers.
    """

    template: str
    columns: Mapping[str, tuple[str, ...]]
    lettered: bool = False

    def values(self, place: int) -> set[str]:
        return {parts[place] for parts in self.columns.values()}

    def is_numbered(self, place: int) -> bool:
        parts = {part.partition(" (")[0] for part in self.values(place)}
        return all(map(str.isdigit, parts)) or (self.lettered and _are_letters(parts))

    def pattern(self, fields: Sequence[str]) -> str:
        """Return the template with a name in each place, starred where it must be."""
        want = {
            c: {n: p for n, p in zip(fields, parts, strict=True) if n}
            for c, parts in self.columns.items()
        }
        made = _fill(self.template, fields, "")
        if any(fields) and matches(made, list(self.columns)) != want:
            made = _fill(self.template, fields, "*")
        return made


def group_numbers(
    names: Iterable[str], keys: Mapping[tuple[int, str], set[str]] | None = None
) -> list[Family]:
    """Return the families of names that differ in numbers, and each other name alone.

    Names that differ in one of the `keys` (see `keys_in`) are of one family, too.
    """
    listed = list(names)
    lettered = _letters_in(listed)
    # the first of several columns of one name has no number
    again = {name[:-4] for name in listed if name.endswith(" (2)")}
    # or of several blocks of columns, of which the others end in 2, 3, ...
    first = {
        name for name in listed
        if {f"{name}2", f"{name}3"} <= {*listed} and f"{name}1" not in listed
    }  # fmt: skip
    groups: dict[str, dict[str, list[str]]] = defaultdict(dict)
    spelled: dict[str, str] = {}

    def mark(name: str) -> tuple[str, list[str]]:
        return _mark(lettered.get(name, name), keys or {})

    often = Counter(mark(name)[0] for name in listed if name not in again)
    for name in listed:
        if _NAMELESS.fullmatch(name):
            groups[name][name] = []
            continue
        numbered = f"{name} (1)" if name in again else f"{name}{'1' * (name in first)}"
        key, parts = mark(numbered)
        number = _AGAIN.fullmatch(f"{name} (1)" if name in again else name)
        if number and number[1] in again and often[(own := mark(number[1]))[0]] > 1:
            # a repeated name among numbered ones is a further number
            key, parts = (
                own[0],
                [*own[1][:-1], own[1][-1] + number[2] * (name not in again)],
            )
        # blanks around separators are slips
        key = spelled.setdefault(key.replace(" ", ""), key)
        groups["" if _HASH.fullmatch(name) else key][name] = parts
    for key, group in [*groups.items()]:
        if key and 1 < len(group) < 4 and all(map(_OF_SCALE.search, group)):
            groups |= {name: {name: []} for name in groups.pop(key)}
    return [
        _merge(key or next(iter(group)), group)
        if key or len(group) == 1
        else Family("{}", {name: (name,) for name in group})
        for key, group in groups.items()
    ]


def group_brackets(names: Sequence[str]) -> list[Family]:
    """Return the family of a grid of questions, as forms name them: `Text 1 ... [Fluent?]`."""
    found = {name: m.groups() for name in names if (m := _GRID.fullmatch(name))}
    outer, inner = ({parts[k] for parts in found.values()} for k in (0, 1))
    n_texts, n = len({_DIGITS.sub("", one) for one in outer}), len(outer) * len(inner)
    # further columns of the same name are blocks, which numbers name
    apart = found.keys().isdisjoint(n[:-4] for n in names if n.endswith(" (2)"))
    is_grid = apart and n_texts > 1 < len(inner) and len(found) >= 0.6 * n
    return [Family("{} [{}]", found)] if is_grid else []


def family_between(names: Sequence[str]) -> Family:
    """Return the family of names that differ in words at one place."""
    parts = [re.split(r"([\W_]+)", re.sub(r"[{}]", "", name)) for name in names]
    start = _n_common(parts)
    end = _n_common([one[start:][::-1] for one in parts])
    ends = parts[0][:start], parts[0][len(parts[0]) - end :]
    words = ["".join(one[start : len(one) - end]) for one in parts]
    columns = {name: (word,) for name, word in zip(names, words, strict=True)}
    return Family("{}".join(map("".join, ends)), columns)


def _n_common(parts: Sequence[Sequence[str]]) -> int:
    rows = enumerate(zip_longest(*parts))
    return next((k for k, row in rows if len({*row}) > 1), 0)


def _letters_in(names: Sequence[str]) -> dict[str, str]:
    """Return names with marks around letters that count from A to C or further."""
    groups: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name in names:
        for m in _LETTER.finditer(name):
            ends = name[: m.start()], name[m.end() :]
            around = [_DIGITS.sub("\0", end) for end in ends]
            groups[around[0], around[1]][name] = f"{ends[0]}\1{m[0]}\1{ends[1]}"
    return {
        name: marked
        for group in groups.values()
        if _are_letters({one.split("\1")[1] for one in group.values()})
        for name, marked in group.items()
    }


def _are_letters(parts: set[str]) -> bool:
    return len(parts) > 2 and "".join(sorted(parts)).lower() in ascii_lowercase


def _merge(key: str, group: Mapping[str, Sequence[str]]) -> Family:
    varied = [len(set(column)) > 1 for column in zip(*group.values(), strict=True)]
    first = iter(zip(varied, next(iter(group.values())), strict=True))

    def put(_: re.Match[str]) -> str:
        vary, digits = next(first)
        return "{}" if vary else digits

    columns = {
        name: tuple(p for p, vary in zip(ps, varied, strict=True) if vary)
        for name, ps in group.items()
    }
    # braces in a name would be read as a pattern
    return Family(
        re.sub("\0", put, key.replace("{", "").replace("}", "")), columns, True
    )


def _fill(template: str, fields: Sequence[str], star: str) -> str:
    parts = template.split("{}")
    named = ["{" + name + star * bool(name) + "}" for name in fields]
    return "".join(chain.from_iterable(zip_longest(parts, named, fillvalue="")))


def keys_in(names: Sequence[str]) -> dict[tuple[int, str], set[str]]:
    """Return the keys of objects that are names of things, such as systems.

    They are by place in the path and what is above it, without numbers. A part of a path
    is such a key if the same columns are below each of two or more, as in
    `turns.red.text`; keys that differ in numbers only are parts.
    """
    below: dict[tuple[int, str], dict[str, set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for name in names:
        parts = name.split(".")
        for k in range(1, len(parts) - 1):
            above, rest = (
                _DIGITS.sub("\0", ".".join(p)) for p in (parts[:k], parts[k + 1 :])
            )
            if not _DIGITS.sub("", parts[k]).strip("[]") or "[" in parts[k]:
                continue
            below[k, above][parts[k]].add(rest)
    found = {}
    for at, rests in below.items():
        two = sorted(rests.values(), key=len)[-2:]
        common = set.intersection(*two) if len(two) > 1 else set()
        keys = {key for key, one in rests.items() if len(one & common) > 1}
        if len({_DIGITS.sub("", key) for key in keys}) > 1:
            found[at] = keys
    return found


def _mark(name: str, keys: Mapping[tuple[int, str], set[str]]) -> tuple[str, list[str]]:
    parts = name.split(".")
    for k, part in enumerate(parts):
        above = _DIGITS.sub("\0", ".".join(parts[:k])).replace("\1", "")
        if part in keys.get((k, above), ()):
            parts[k] = f"\1{part}\1"
    marked = ".".join(parts)
    pieces = [piece.strip("\1") for piece in _PLACE.findall(marked)]
    return _PLACE.sub("\0", marked), pieces


def cross(families: Sequence[Family]) -> list[Family]:
    """Join families whose names are words in all combinations, as `red-fluency_{}`.

    A word may have separators in it if it is the first or the last of two. Families
    that are in no such table are left out.
    """
    left, found = list(families), []
    while best := max(filter(None, map(_grid, _groups(left))), key=_size, default=None):
        template, rows = best
        columns = {
            name: tuple(_places(words, numbers))
            for family, words in rows
            for name, numbers in family.columns.items()
        }
        found.append(Family(template, columns))
        joined = {family.template for family, _ in rows}
        left = [one for one in left if one.template not in joined]
    return found


# A family, and the words of its template, each with whether it varies.
Row = tuple[Family, tuple[str, ...]]


def _size(grid: tuple[str, list[Row]]) -> tuple[int, int, int]:
    """Rate a table: by its columns, then by words without separators, then by rows."""
    _, rows = grid
    n = sum(len(family.columns) for family, _ in rows)
    return n, len(rows[0][1]), len({words[0] for _, words in rows})


def _groups(families: Sequence[Family]) -> Iterable[list[Row]]:
    groups: dict[object, list[Row]] = defaultdict(list)
    for family in families:
        tokens = _CUT.split(family.template)
        n = len(tokens)
        cuts = {(tuple(tokens), "")} if n > 3 else set()
        for k in {1, n - 2} if n > 2 else ():
            cut = "".join(tokens[:k]), tokens[k], "".join(tokens[k + 1 :])
            cuts |= {
                (cut, side) for side, at in (("left", 1), ("right", n - 2)) if k == at
            }
        for words, side in cuts:
            shape = tuple(
                word if i % 2 else (word.count("{}"), word.startswith("{}"))
                for i, word in enumerate(words)
            )
            groups[shape, side].append((family, words))
    return groups.values()


def _grid(group: list[Row]) -> tuple[str, list[Row]] | None:
    columns = [*zip(*(words for _, words in group), strict=True)]
    every = [i for i, column in enumerate(columns) if len(set(column)) > 1]
    # of words that vary together, one is of the table
    varied = [
        i for k, i in enumerate(every)
        if not any(
            len({*zip(columns[i], columns[j], strict=True)}) == len({*columns[i]}) == len({*columns[j]})
            for j in every[k + 1 :])
    ]  # fmt: skip
    for i in varied:
        # a word that stands with one other alone is of no table
        others = [tuple(w[j] for j in varied if j != i) for _, w in group]
        often = {o for o in others if others.count(o) > 1}
        group = [
            row for row, o in zip(group, others, strict=True) if o in often or not o
        ]
    sizes = [len({words[i] for _, words in group}) for i in varied]
    if len(varied) < 2 or min(sizes, default=0) < 2 or len(group) < 0.6 * prod(sizes):
        return None
    words = group[0][1]
    template = "".join(
        "{}" * (1 + word.count("{}")) if i in every else word
        for i, word in enumerate(words)
    )
    # what does not vary keeps its numbers only
    return template, [
        (family, tuple(w if i in every else "\0" + w for i, w in enumerate(own)))
        for family, own in group
    ]


def _places(words: Sequence[str], numbers: Sequence[str]) -> Iterator[str]:
    left = iter(numbers)
    for word in words:
        slots = [next(left) for _ in range(word.count("{}"))]
        if word.startswith("\0"):
            yield from slots
        elif word.startswith("{}"):
            yield from (*slots, word.replace("{}", ""))
        else:
            yield from (word.replace("{}", ""), *slots)
