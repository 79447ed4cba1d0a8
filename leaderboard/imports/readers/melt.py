"""Tables with roles as rows of judgments: each rating column of each line is a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, chain
from operator import and_, eq
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.imports.readers.families import Column, side_in
from leaderboard.imports.readers.judgments import Role, Texts
from leaderboard.imports.readers.mapping import EACH, Chosen
from leaderboard.imports.readers.names import different, moments, numbers, plain
from leaderboard.imports.readers.patterns import is_pattern
from leaderboard.imports.readers.people import is_program
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.values import FILLERS, MEASURES, UNMARKED
from leaderboard.imports.readers.words import outcomes, shares, side_of

Words = npt.NDArray[np.object_]
_NO = frozenset(("false", "0", "0.0", "no"))
# Names of columns that say only that there are ratings.
_PLAIN = frozenset(
    ("value", "rating", "ratings", "score", "scores", "raw", "label", "judgment", "judgement",
     "preferred", "preference", "winner", "choice", "vote", "")
)  # fmt: skip
# A number in such a column about a pair is the share of a win, or the sign of the lead.
_SHARES = frozenset(("value", "rating", "score", "raw"))
_AROUND = " _-.:|/["
_OF_LINES = ("time", "began", "seconds", "page", "kind", "counts")


@dataclass(frozen=True)
class Cells:
    """One column with a role, and what its name says."""

    name: str
    role: str
    fields: Mapping[str, str]
    words: Words
    pattern: str = ""


class Lines:
    def __init__(
        self,
        name: str,
        words: Mapping[str, Words],
        columns: Sequence[Column],
        said: Chosen,
    ) -> None:
        self.name, self.said = name, said
        self.unknown_kinds: dict[tuple[str, str], None] = {}
        self._about: dict[tuple[str, ...], dict[str, Any]] = {}
        self.n = len(next(iter(words.values()), ()))
        self.cells = [
            cells
            for column in columns
            if column.role != "ignore"
            for cells in _marks_joined(
                column.name,
                [
                    Cells(one, column.role, fields, words[one], column.name)
                    for one, fields in column.fields.items()
                    if one in words
                ],
            )
        ]

    def by_role(self, *roles: str) -> list[Cells]:
        return [one for one in self.cells if one.role in roles]

    def beside(self, role: str, measure: Cells) -> list[Cells]:
        """Return the columns of a role that are about the same as a rating column.

        A column is if all that its name says, the other's says, too. Those that have the
        most in common come alone.
        """
        steps = measure.name.split(".")
        near = [
            (
                len(one.fields),
                sum(accumulate(map(eq, one.name.split("."), steps), and_)),
                one,
            )
            for one in self.near(role, measure)
        ]
        most = max((common for *common, _ in near), default=[])
        return [one for *common, one in near if common == most]

    def near(self, role: str, measure: Cells) -> list[Cells]:
        return [
            one
            for one in self.by_role(role)
            if all(measure.fields.get(k) == v for k, v in one.fields.items())
        ]

    def word(self, role: str, measure: Cells, *, joined: bool = False) -> Words:
        """Return each line's word for a role: of all rows, the name, or a column."""
        if constant := self.said.constant(role):
            return np.full(self.n, constant, dtype=object)
        found = [_strip(one.words) for one in self.beside(role, measure)]
        if own := measure.fields.get(role.replace(" ", "_"), ""):
            named = np.full(self.n, own, dtype=object)
            return _join([*found, named]) if joined else named
        if not found:
            return _empty(self.n)
        return _join(found) if joined or role == "system" else found[0]

    def about(self, measure: Cells) -> dict[str, Any]:
        """Return time, seconds, page and kind of each line for a rating column."""
        found = chain.from_iterable(self.near(role, measure) for role in _OF_LINES)
        key = tuple(one.name for one in found)
        if key not in self._about:
            self._about[key] = _of_lines(self, measure)
        return self._about[key]

    def measures(self) -> list[Cells]:
        return self.by_role(*MEASURES)


def _marks_joined(pattern: str, family: list[Cells]) -> list[Cells]:
    if not family or "value" not in family[0].fields:
        return family
    answers: dict[tuple[tuple[str, str], ...], list[Words]] = {}
    for one in family:
        fields = dict(one.fields)
        value = fields.pop("value")
        marked = [value if w.strip().lower() not in UNMARKED else "" for w in one.words]
        answers.setdefault(tuple(fields.items()), []).append(
            np.array(marked, dtype=object)
        )
    name = pattern.partition("{value")[0].strip(_AROUND)
    return [
        Cells(name, family[0].role, dict(fields), _join(words, " and "), pattern)
        for fields, words in answers.items()
    ]


def _empty(n: int) -> Words:
    return np.full(n, "", dtype=object)


def _strip(words: Words) -> Words:
    bare = {word: word.strip() for word in set(words)}
    if all(word == one for word, one in bare.items()):
        return words
    # blanks around stay if only they tell two names apart
    if len(set(bare.values()) - {""}) < sum(map(bool, bare.values())):
        bare = {word: word if one else "" for word, one in bare.items()}
    return np.array([bare[word] for word in words], dtype=object)


def _join(found: Sequence[Words], mark: str = "/") -> Words:
    if len(found) == 1:
        return found[0]
    return np.array(
        [mark.join(filter(None, row)) for row in zip(*found, strict=True)], object
    )


def criterion_of(measure: Cells, *, alone: bool) -> str:
    """Return the criterion that a column's name says; "" if it says none."""
    if "criterion" in measure.fields:
        return measure.fields["criterion"]
    if measure.name.endswith(
        tuple(measure.fields.values() or ("\0",))
    ) and not is_pattern(measure.pattern):
        return ""  # the whole name is that of a system, rater or item
    name = re.sub(r"^([Aa]nswer\.|OUTPUT:|label_annotations\.)", "", measure.pattern)
    stem = name.partition("{value")[0].strip(_AROUND)
    if stem and stem != name and not is_pattern(stem):
        return stem
    if is_pattern(name):
        # a part that holds the answer's own number or word names no criterion
        segments = re.split(r"\.(?! |$)", name)
        while len(segments) > 1 and (
            re.search(r"\{(value)?\}", segments[-1])
            or (plain(segments[-1]) in _PLAIN and not alone)
        ):
            segments.pop()
        inner = re.search(r"\[([^\[\]{}]+)\]$", segments[-1])
        outer = re.sub(r"\{\w*\*?\}", "", segments[-1]).strip(" _-:|/[]()")
        name = inner[1] if inner else outer
    return "" if alone and plain(name) in _PLAIN else name


def parts_of(lines: Lines, numbers_row: Sequence[int]) -> list[dict[str, Any]]:
    """Return the rows of each rating column, as for `judgments.frame`.

    If rows repeat each other but for the number of their part, or for the texts that were
    shown, that is of the item.
    """
    made = list(_parts_of(lines, numbers_row))
    for beside in [[one.pop(key) for one in made] for key in ("part", "shown")]:
        if all(map(any, beside)) and _n_different(made) < 0.99 * lines.n * len(made):
            apart = [
                {**one, "instance": _join([one["instance"], words])}
                for words, one in zip(beside, made, strict=True)
            ]
            if _n_different(apart) > 1.05 * _n_different(made):
                made = apart
    return made


def _n_different(made: Sequence[Mapping[str, Any]]) -> int:
    keys = ("worker", "instance", "system", "other", "criterion")
    found: set[tuple[str, ...]] = set()
    for one in made:
        n = len(one["row"])
        columns = [
            v if not isinstance(v := one.get(k, ""), str) else [v] * n for k in keys
        ]
        found |= set(zip(*columns, strict=True))
    return len(found)


def _parts_of(lines: Lines, numbers_row: Sequence[int]) -> Iterator[dict[str, Any]]:
    measures = lines.measures()
    stems = {criterion_of(one, alone=False) for one in measures}
    for measure in measures:
        workers = lines.word("rater", measure)
        shared = {
            **lines.about(measure),
            "part": np.full(lines.n, measure.fields.get("part", ""), dtype=object),
            "shown": _marks_of(lines, measure),
            "row": np.asarray(numbers_row),
            "role": _of_programs(lines.about(measure)["role"], workers),
            "worker": workers,
            "instance": _items(lines, measure),
            "document": lines.word("document", measure),
            "place": _place(lines, measure),
        }
        word = lines.word("criterion", measure)
        name = criterion_of(measure, alone=len(stems) == 1)
        criterion = np.where(word == "", name, word) if any(word) else name
        cells = _strip(measure.words)
        sides = [lines.word(f"system {k}", measure) for k in (1, 2)]
        if measure.role in ("best", "worst"):
            yield from _best(lines, measure, cells, shared)
        elif measure.role == "choice" and any(map(any, sides)):
            paired = _pair(lines, measure, cells, *sides)
            yield {**shared, **paired, "criterion": criterion}
        else:
            system, side = lines.word("system", measure), side_in(measure.name)
            if side and not any(system):
                # each of two that were shown is rated
                system = sides[0] if side_of(side[0]) else sides[1]
                rest = f"{measure.name[: side.start()]}{measure.name[side.end() :]}"
                criterion = rest.strip(" _-.")
            yield {
                **shared,
                "system": system,
                "criterion": criterion,
                "word": cells,
            }


def _marks_of(lines: Lines, measure: Cells) -> Words:
    """Return a short mark of the texts that each row shows."""
    shown = [lines.word(f"text{side}", measure) for side in ("", " 1", " 2")]
    words = _join([one for one in shown if any(one)] or shown[:1])
    marks = {word: sha256(word.encode()).hexdigest()[:6] for word in set(words) - {""}}
    return np.array([marks.get(word, "") for word in words], dtype=object)


def _of_programs(roles: Sequence[str], workers: Words) -> Sequence[str]:
    """Return the kinds of rows, with predictions for the answers of programs."""
    programs = {name for name in set(workers) if is_program(name)}
    if not programs:
        return roles
    return [
        Role.PREDICTION.value
        if worker in programs and role == Role.JUDGMENT.value
        else role
        for role, worker in zip(roles, workers, strict=True)
    ]


def _items(lines: Lines, measure: Cells) -> Words:
    found = lines.word("item", measure, joined=True)
    # without items, numbers in names are those of items if each line has another rater
    if not any(found) and any(
        len(set(one.words)) == lines.n
        for one in lines.by_role("rater")
        if not one.fields
    ):
        return np.full(lines.n, measure.fields.get("part", ""), dtype=object)
    return found


def _place(lines: Lines, measure: Cells) -> npt.NDArray[np.int64]:
    found = numbers(lines.word("order", measure))
    if np.isnan(found).all() and measure.fields.get("part", "").isdigit():
        found = np.full(lines.n, float(measure.fields["part"]))
    found = np.where(np.isnan(found) | (np.abs(found) > 1e6), -1, found)
    return np.maximum(found - int((found[found >= 0] >= 1).all()), -1).astype(np.int64)


def _of_lines(lines: Lines, measure: Cells) -> dict[str, Any]:
    words = {role: lines.word(role, measure) for role in _OF_LINES[:4]}
    at, began = moments(words["time"]), moments(words["began"])
    seconds = numbers(words["seconds"])
    if not any(words["seconds"]):
        spent = numbers(words["time"]) if np.isnan(at).all() else at - began
        seconds = np.where(spent >= 0, spent, np.nan)
    roles = [Role.JUDGMENT.value] * lines.n
    for kinds in lines.near("kind", measure):
        said = _explained_words(lines, kinds, "*")
        said = {word: kind for word, kind in said.items() if kind in {*Role}}
        words_ = _strip(kinds.words)
        places, which = different(words_)
        named = [str(said.get(w.lower(), w)) for w in words_[places]]
        found, unknown = roles_of(named, kinds.name)
        if found:
            lines.unknown_kinds |= dict.fromkeys((kinds.name, one) for one in unknown)
            pairs = zip(roles, np.array(found, dtype=object)[which], strict=True)
            roles = [b if a == Role.JUDGMENT.value else a for a, b in pairs]
    for counts in lines.near("counts", measure):
        none = {
            word
            for word, worth in _explained_words(lines, counts, "*").items()
            if worth == "none"
        }
        none |= _NO | FILLERS
        roles = [
            Role.CANCELLED.value if word.strip().lower() in none else role
            for role, word in zip(roles, counts.words, strict=True)
        ]
    return {"at": at, "seconds": seconds, "page": words["page"], "role": roles}


def _explained_words(lines: Lines, cells: Cells, *more: str) -> dict[str, float | str]:
    found = [lines.said.words.get(of, {}) for of in (*more, cells.pattern, cells.name)]
    return dict(chain.from_iterable(one.items() for one in found))


def _pair(
    lines: Lines, measure: Cells, words: Words, first: Words, second: Words
) -> dict[str, Any]:
    names = [
        next((one.name for one in lines.beside(role, measure)), "")
        for role in ("system 1", "system 2")
    ]
    said = _explained_words(lines, measure, "*")
    if {"index", "idx"} & {*plain(measure.name).split("_")} and {*words} == {"0", "1"}:
        said = {"0": "first", "1": "second", **said}
    for name, text in zip((first, second), ("text 1", "text 2"), strict=True):
        # the text is chosen, not the name
        words = np.where(
            (words == lines.word(text, measure)) & (words != ""), name, words
        )
    if plain(measure.name) in _SHARES and "+" not in said:
        said = {**shares(set(words)), **said}
    return {
        "system": first,
        "other": second,
        "word": words,
        "value": outcomes(words, first, second, said, (names[0], names[1])),
        "place": 0,  # the first was on the left
    }


def _best(
    lines: Lines, measure: Cells, words: Words, shared: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield a pair with each of the others: the best is preferred, the worst is not."""
    is_best = measure.role == "best"
    beside = _other_end(lines, measure)
    ends = [criterion_of(one, alone=False)[1:] for one in (measure, beside or measure)]
    # what `BH1` and `WH1` have in common
    alike = ends[0] if beside and ends[0] == ends[1] else ""
    shared["criterion"] = measure.fields.get("criterion") or alike or "preference"
    two = [*lines.beside("system 1", measure), *lines.beside("system 2", measure)]
    shown = two or [o for o in lines.by_role("system") if o.fields.keys() <= {"part"}]
    chosen, end = (
        _names_of(one, shown, sided=bool(two))
        for one in (words, _strip(beside.words) if beside else _empty(lines.n))
    )
    # without those that were shown, only the two ends are known
    for other in (
        [_strip(one.words) for one in shown]
        or [
            np.full(lines.n, name, dtype=object)
            for name in sorted(
                {*chosen, *end} if lines.said.constant("system") == EACH else ()
            )
        ]
        or [end] * is_best
    ):
        paired = (other != chosen) & (other != "") & (chosen != "")
        if not is_best:
            paired &= other != end  # said already
        yield {
            **shared,
            "system": np.where(paired, chosen, ""),
            "other": np.where(paired, other, ""),
            "word": np.where(paired, words, ""),
            "value": np.where(paired, float(is_best), np.nan),
            "place": -1,
        }


def _other_end(lines: Lines, measure: Cells) -> Cells | None:
    same = lines.by_role(measure.role)
    others = lines.by_role("worst" if measure.role == "best" else "best")
    near = [one for one in others if one.fields == measure.fields]
    if len(near) == 1:
        return near[0]
    # several without numbers in their names go together in their order
    at = [one.name for one in same].index(measure.name)
    return others[at] if len(others) == len(same) else None


def _names_of(words: Words, shown: Sequence[Cells], *, sided: bool) -> Words:
    stripped = [_strip(one.words) for one in shown]
    by_place = {
        key: names
        for one, names in zip(shown, stripped, strict=True)
        for key in (one.name.lower(), one.fields.get("part", ""))
    }
    if not sided and {*words} & {"0", "A", "a"}:
        # places that count from 0, or are letters
        ends = zip("0123456789", "abcdefghij", stripped, strict=False)
        by_place |= {key: names for *keys, names in ends for key in keys}
    if sided:
        sides = {1.0: stripped[0], 0.0: stripped[-1]}
        by_place |= {
            w.lower(): sides[s] for w in {*words} if (s := side_of(w)) in sides
        }
    named = {word for names in stripped for word in names}
    found = [
        by_place[word.lower()][i]
        if word.lower() in by_place
        else ""
        if side_of(word) == 0.5 and word not in named  # none or both
        else word
        for i, word in enumerate(words)
    ]
    return np.array(found, dtype=object)


def take_texts(lines: Lines, texts: Texts) -> None:
    """Add inputs, references and the systems' texts; the first of each is kept."""
    for measure in lines.measures() or [Cells("", "", {}, _empty(lines.n))]:
        items = _items(lines, measure)
        if not any(items):
            continue
        for one in lines.beside("source", measure):
            for item, text in zip(items, one.words, strict=True):
                if text and item:
                    texts.inputs.setdefault(item, {}).setdefault(one.name, text)
        for one in lines.beside("reference", measure):
            for item, text in zip(items, one.words, strict=True):
                if text and text not in texts.references.setdefault(item, []):
                    texts.references[item].append(text)
        for side in ("", " 1", " 2"):
            outputs = lines.beside(f"text{side}", measure)
            if outputs:
                # a damaged text is no output
                usual = np.array(lines.about(measure)["role"]) == Role.JUDGMENT.value
                systems = np.where(usual, lines.word(f"system{side}", measure), "")
                for system, item, text in zip(
                    systems, items, outputs[0].words, strict=True
                ):
                    if text and system and item:
                        texts.outputs.setdefault((system, item), text)
