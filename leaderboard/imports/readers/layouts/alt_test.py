"""The alternative annotator test's files: labels by people and by language models."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import numbers
from leaderboard.imports.readers.preferred import outcomes
from leaderboard.imports.readers.sources import Source

_PEOPLE = "human_annotations"
_MODELS = "llm_annotations"
# An object of objects of labels.
_FORM = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"|-?\d)')
#: The meaning of the parts of an id between `__`.
WHOLE = "instance"
PATTERNS = {
    WHOLE: 1,
    "instance__criterion": 2,
    "instance__system": 2,
    "instance__system__criterion": 3,
    "instance__system_a__system_b__turn": 4,
}
# A part is a name if it occurs in this many ids, on average.
_OFTEN = 5


class AltTest(Layout):
    """Pairs of JSON files: an object from rater to an object from instance to label."""

    slug = "alt-test"
    title = "AltTest: labels by people and by models"
    files = (
        "human_annotations.json and llm_annotations.json (.gz or not): "
        '{"rater": {"instance": label}}'
    )
    tried_on = "AltTest: six data sets, 36,707 labels by people"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        found = [source for source in sources if _FORM.match(source.head)]
        named = [source for source in found if source.stem in (_PEOPLE, _MODELS)]
        if not named and len(found) != 1:
            return NOT_MINE
        sets = tuple(sorted({_set(source) for source in named or found}))
        return Look(
            0.97 if named else 0.55,
            "labels by rater and instance",
            (
                Choice(
                    "data_set", "Which data set?", sets,
                    sets[0] if len(sets) == 1 else "", needed=len(sets) > 1,
                ),
                Choice("pattern", "What do the parts of an id mean?", tuple(PATTERNS)),
            ),
        )  # fmt: skip

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        """Read the labels of one data set; those by models are predictions."""
        found = {n: s for n, s in enumerate(sources) if _FORM.match(s.head)}
        named = {
            n: s for n, s in found.items() if s.stem in (_PEOPLE, _MODELS)
        } or found
        sets = sorted({_set(source) for source in named.values()})
        picked = chosen(choices, "data_set", sets)
        labels: list[tuple[int, int, str, str, str, object]] = []
        judgments = Judgments(cls.slug, frame({}))
        for number, source in named.items():
            if _set(source) == picked:
                kept, problems = _labels(source)
                labels += [(number, *one) for one in kept]
                judgments.problems += problems
        if not labels:
            raise GenieError(f"{picked or 'The file'} has no labels.", code="no-rows")
        ids = sorted({one[4] for one in labels})
        words = sorted({str(one[5]) for one in labels})
        pattern = chosen(choices, "pattern", list(PATTERNS), _pattern(ids, words))
        judgments.rows = _rows(labels, pattern, judgments, picked)
        return judgments


def _set(source: Source) -> str:
    folder = source.name.rpartition("/")[0].rpartition("/")[2]
    if source.stem in (_PEOPLE, _MODELS):
        return folder or "labels"
    return folder or source.stem


def _labels(
    source: Source,
) -> tuple[list[tuple[int, str, str, str, object]], list[Problem]]:
    """Return (number, role, rater, id, label) rows, and the problems."""
    role = (Role.PREDICTION if source.stem == _MODELS else Role.JUDGMENT).value
    content = source.json()
    if not isinstance(content, dict):
        raise GenieError(
            f"{source.name} is not an object of raters.", code="bad-labels"
        )
    kept: list[tuple[int, str, str, str, object]] = []
    problems, row = [], 0
    for number, (rater, labels) in enumerate(content.items(), 1):
        if not isinstance(labels, dict):
            sentence = f"Rater {number:,} has no object of labels and is left out."
            problems.append(Problem(source.name, row + 1, "", sentence))
            continue
        for one, label in labels.items():
            row += 1
            if isinstance(label, bool) or not isinstance(label, str | int | float):
                sentence = (
                    f"Rater {number:,} has neither text nor number for {one[:60]!r}."
                )
                problems.append(Problem(source.name, row, "", sentence))
                continue
            kept.append((row, role, rater, one, label))
    return kept, problems


def _pattern(ids: Sequence[str], words: Sequence[str]) -> str:
    parts = [one.split("__") for one in ids]
    if len({len(one) for one in parts}) != 1:
        return _of_two([one.rsplit("__", 1) for one in ids])
    columns = list(zip(*parts, strict=True))
    if (
        len(columns) == 4
        and not np.isnan(outcomes(words, words, [""] * len(words))).any()
    ):
        return "instance__system_a__system_b__turn"
    if len(columns) == 3 and all(_is_name(column) for column in columns[1:]):
        return "instance__system__criterion"
    return _of_two(parts) if len(columns) == 2 else WHOLE


def _of_two(parts: Sequence[Sequence[str]]) -> str:
    if any(len(one) != 2 for one in parts):
        return WHOLE
    return "instance__criterion" if _is_name([one[1] for one in parts]) else WHOLE


def _is_name(column: Sequence[str]) -> bool:
    return len(set(column)) * _OFTEN <= len(column)


def _rows(
    labels: Sequence[tuple[int, int, str, str, str, object]],
    pattern: str,
    judgments: Judgments,
    name: str,
) -> Any:
    files, rows, roles, workers, ids, given = zip(*labels, strict=True)
    n_parts = PATTERNS[pattern]
    split = [_split(one, n_parts) for one in ids]
    names = dict(zip(pattern.split("__"), zip(*split, strict=True), strict=True))
    words = [str(label) for label in given]
    first = names.get("system_a", names.get("system", ("",) * len(ids)))
    second = names.get("system_b", ("",) * len(ids))
    instances = list(names["instance"])
    if "turn" in names:
        turns = names["turn"]
        judgments.documents = {
            f"{one}/{turn}": one for one, turn in zip(instances, turns, strict=True)
        }
        instances = [f"{o}/{t}" for o, t in zip(instances, turns, strict=True)]
        values = outcomes(words, first, second)
    else:
        values = numbers(words)
    if np.isnan(values).sum() > len(values) / 2:
        values = np.full(len(words), np.nan)
    if not any(first):
        sentence = "The ids name no system: agreement and judges, but nothing to rank."
        judgments.problems.append(Problem(name, 0, "", sentence, fatal=False))
    return frame(
        {
            "file": files,
            "row": rows,
            "role": roles,
            "worker": workers,
            "instance": instances,
            "system": first,
            "other": second,
            "criterion": names.get("criterion", ""),
            "value": values,
            "word": words,
            "document": [judgments.documents.get(one, "") for one in instances],
        }
    )


def _split(one: str, n: int) -> list[str]:
    parts = one.rsplit("__", n - 1)
    return [*parts, *[""] * (n - len(parts))]
