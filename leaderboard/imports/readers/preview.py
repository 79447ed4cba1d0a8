"""A preview of files, for people to check before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.imports.readers.judgments import Judgments, Problem, Role, told

if TYPE_CHECKING:
    import pandas as pd

MOST_PROBLEMS = 100
MOST_NAMES = 100
MOST_WORDS = 60
MOST_CRITERIA = 12
FIRST_ROWS = 10
# Fewer values than this are no evidence of a scale.
_ENOUGH = 20
_SHOWN = ("role", "worker", "instance", "system", "other", "criterion", "value", "word")
_NEVER_IN_FILES = ("pay", "instructions", "how workers were screened")


@dataclass(frozen=True)
class UsedScale:
    """The scale on which ratings of a criterion are stored and shown.

    `shown` is written for people ("1 to 5"), `source` is the evidence in a few words,
    and `confirmed` is False if it is a guess from too few different values.
    """

    slug: str
    shown: str
    source: str
    confirmed: bool = True


@dataclass(frozen=True)
class Scale:
    """The values of a criterion: `least` and `most` are None if none is a number.

    `likely` is their kind in a few words; only ratings have a `scale`.
    """

    criterion: str
    n: int
    least: float | None
    most: float | None
    n_distinct: int
    likely: str
    words: Mapping[str, int]
    scale: UsedScale | None = None


@dataclass(frozen=True)
class Preview:
    """Everything that a person checks before an import.

    `systems` are at most `MOST_NAMES`, the most rated first; the numbers of systems,
    instances, workers and pages are those of rows that count. `criteria` begin with the
    one that ranks. `board` has for each system its n and plain mean by criterion (None:
    no number; of preferences, the share won), the best first. `words` are the commonest
    without a number, and `problems` the first, fatal ones before others.
    """

    layout: str
    roles: Mapping[str, int]
    counted: tuple[str, ...]
    systems: Mapping[str, int]
    n_systems: int
    n_instances: int
    n_workers: int
    n_pages: int
    criteria: tuple[str, ...]
    board: tuple[tuple[str, tuple[tuple[int, float] | None, ...]], ...]
    words: tuple[Mapping[str, Any], ...]
    scales: tuple[Scale, ...]
    rows: tuple[Mapping[str, Any], ...]
    problems: tuple[Problem, ...]
    n_problems: int
    n_fatal: int
    texts: Mapping[str, int]
    languages: tuple[str, str]
    standardised: bool
    unknown: tuple[str, ...]
    refused: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            **vars(self),
            "scales": [asdict(scale) for scale in self.scales],
            "problems": [{**vars(one), "text": told(one)} for one in self.problems],
        }

    def to_text(self) -> str:
        roles = ", ".join(f"{n:,} {role}" for role, n in self.roles.items())
        texts = ", ".join(f"{n:,} {name}" for name, n in self.texts.items())
        words = [f"{one['word']} ({one['n']:,})" for one in self.words]
        more = self.n_problems - len(self.problems)
        lines = [
            f"Layout {self.layout}: {roles}.",
            f"Judgments are the rows with the role {' or '.join(self.counted)}: "
            f"{self.n_systems:,} systems, {self.n_instances:,} instances, "
            f"{self.n_workers:,} workers, {self.n_pages:,} pages.",
            *map(_line, self.scales),
            *[f"Texts: {texts}."] * any(self.texts.values()),
            *[f"Languages: {' to '.join(filter(None, self.languages))}."]
            * any(self.languages),
            f"Not known: {', '.join(self.unknown)}.",
            *[f"Words without a number: {', '.join(words)}."] * bool(words),
            "",
            f"Systems by {''.join(self.criteria[:1]) or 'mean'}, with n:",
            *(
                f"  {system}: {cells[0][1]:.4g} (n = {cells[0][0]:,})"
                if cells[0]
                else f"  {system}"
                for system, cells in self.board
            ),
            "",
            "First rows:",
            *("  " + _row(row) for row in self.rows),
            *[
                "",
                f"Problems: {self.n_problems:,}; rows that cannot be used: "
                f"{self.n_fatal:,}.",
                *(f"  {problem}" for problem in self.problems),
            ]
            * bool(self.n_problems),
            *[f"  and {more:,} more"] * (more > 0),
            *(f"Refused: {sentence}" for sentence in self.refused),
        ]
        return "\n".join(lines) + "\n"


def preview(
    judgments: Judgments,
    scales: Mapping[str, UsedScale] | None = None,
    refused: Sequence[str] = (),
) -> Preview:
    """Return a preview of files that were read.

    `scales` are those of ratings, by criterion; `refused` has questions that must be
    answered before this is stored.
    """
    judged = judgments.judged
    ordered = sorted(judgments.problems, key=lambda problem: not problem.fatal)
    texts = judgments.texts
    systems = _by_system(judged)
    criteria, board = _board(judged, judgments.lower_is_better)
    return Preview(
        layout=judgments.layout,
        roles=judgments.n_by_role(),
        counted=tuple(role.value for role in judgments.counted),
        systems=dict(list(systems.items())[:MOST_NAMES]),
        n_systems=len(systems),
        n_instances=_n(judged["instance"]),
        n_workers=_n(judged["worker"]),
        n_pages=_n(judged["page"]),
        criteria=criteria,
        board=board,
        words=open_words(judged),
        scales=tuple(
            _scale(str(name), rows, (scales or {}).get(str(name)))
            for name, rows in judged.groupby("criterion", sort=True)
        ),
        rows=tuple(_shown(judgments.rows.iloc[:FIRST_ROWS])),
        problems=tuple(ordered[:MOST_PROBLEMS]),
        n_problems=len(ordered),
        n_fatal=sum(problem.fatal for problem in ordered),
        texts={
            "inputs": len(texts.inputs),
            "outputs": len(texts.outputs),
            "references": sum(map(len, texts.references.values())),
        },
        languages=judgments.languages,
        standardised=judgments.standardised,
        unknown=_unknown(judgments, judged),
        refused=(*_refused(judged), *refused),
    )


def _n(names: pd.Series) -> int:
    return len(set(names) - {""})


def _by_system(judged: pd.DataFrame) -> dict[str, int]:
    import pandas as pd

    names = pd.concat([judged["system"], judged["other"]])
    counts = names[names != ""].value_counts(sort=False).sort_index()
    return {
        str(name): int(n)
        for name, n in counts.sort_values(ascending=False, kind="stable").items()
    }


def _board(judged: pd.DataFrame, lower: Sequence[str]) -> tuple[Any, Any]:
    import pandas as pd

    rows = judged[judged["value"].notna() & (judged["system"] != judged["other"])]
    pairs = rows[rows["other"] != ""]
    turned = pairs.assign(system=pairs["other"], value=1 - pairs["value"])
    # as on a board, criteria of ratings come before those of pairs
    rows = pd.concat([rows[rows["other"] == ""], pairs, turned])
    rows = rows[rows["system"] != ""]
    criteria = tuple(rows["criterion"].unique()[:MOST_CRITERIA])
    found = rows.groupby(["system", "criterion"])["value"].agg(["size", "mean"])
    cells = {key: (int(n), float(mean)) for key, n, mean in found.itertuples()}
    board = [
        (str(system), tuple(cells.get((system, one)) for one in criteria))
        for system in rows["system"].unique()
    ]
    sign = 1 if criteria[:1] and criteria[0] in lower else -1
    board.sort(key=lambda row: (not row[1][0], sign * (row[1][0] or (0, 0))[1], row[0]))
    return criteria, tuple(board[:MOST_NAMES])


def open_words(judged: pd.DataFrame) -> tuple[dict[str, Any], ...]:
    """Return the commonest words without a number, with their counts."""
    left = judged[judged["value"].isna() & (judged["word"] != "")]
    found: list[dict[str, Any]] = [
        {
            "word": str(word),
            "n": len(rows),
            "paired": bool((rows["other"] != "").any()),
            "criteria": list(map(str, rows["criterion"].unique())),
        }
        for word, rows in left.groupby("word", sort=True)
    ]
    return tuple(sorted(found, key=lambda one: -one["n"])[:MOST_WORDS])


def _scale(criterion: str, rows: pd.DataFrame, scale: UsedScale | None) -> Scale:
    different = np.unique(rows["value"].dropna())
    if not len(different):
        words = rows["word"].value_counts().sort_index(kind="stable")
        words = words.sort_values(ascending=False, kind="stable")
        common = {str(word): int(n) for word, n in words.head(10).items()}
        return Scale(criterion, len(rows), None, None, len(words), "labels", common)
    ties = "preference, with ties" if 0.5 in different else "preference, no ties"
    likely = ties if (rows["other"] != "").all() else _in_words(scale)
    ends = float(different[0]), float(different[-1])
    return Scale(criterion, len(rows), *ends, len(different), likely, {}, scale)


def _in_words(scale: UsedScale | None) -> str:
    confirm = "" if scale is None or scale.confirmed else "; to be confirmed"
    return f"{scale.shown} ({scale.source}{confirm})" if scale else "not for a board"


def _unknown(judgments: Judgments, judged: pd.DataFrame) -> tuple[str, ...]:
    missing = {
        "workers": not _n(judged["worker"]),
        "instances": not _n(judged["instance"]),
        "times": bool(judged["at"].isna().all()),
        "how long a judgment took": bool(judged["seconds"].isna().all()),
        "pages": not _n(judged["page"]),
        "order on the page": bool((judged["place"] < 0).all()),
        "outputs' texts": not judgments.texts.outputs,
        "documents": not (judgments.documents or _n(judged["document"])),
        "languages": not any(judgments.languages),
    }
    return (*(name for name, is_so in missing.items() if is_so), *_NEVER_IN_FILES)


def _refused(judged: pd.DataFrame) -> tuple[str, ...]:
    none = "No judgment names a system: there is nothing to rank."
    found = [none] * (not (judged["system"] != "").any())
    rated = judged[judged["value"].notna() & (judged["other"] == "")]
    for criterion, rows in rated.groupby("criterion", sort=True):
        ends = rows.groupby("file")["value"].agg(["min", "max", "size"])
        pairs = [(low, high) for low, high, n in ends.to_numpy() if n >= _ENOUGH]
        ranges = ", ".join(f"{low:g} to {high:g}" for low, high in pairs)
        name = str(criterion) or "the values"
        sentence = f"The files have different scales of {name} ({ranges}): import them one by one."
        found += [sentence] * _is_mixed(pairs)
    return ("There are no judgments.",) if judged.empty else tuple(found)


def _is_mixed(ends: Sequence[tuple[float, float]]) -> bool:
    """Check for points or z-scores in some parts and 0 to 100 or more in others."""
    small = any(low >= 0 and high <= 10 for low, high in ends)
    signed = any(low < 0 < high and high <= 20 for low, high in ends)
    return any(low >= 0 and high > 20 for low, high in ends) and (small or signed)


def _shown(rows: pd.DataFrame) -> list[dict[str, Any]]:
    # NaN differs from itself
    return [
        {str(name): cell if cell == cell else None for name, cell in row.items()}
        for row in rows[list(_SHOWN)].to_dict("records")
    ]


def _line(scale: Scale) -> str:
    name = scale.criterion or "Values"
    if scale.least is None:
        words = ", ".join(f"{word} {n:,}" for word, n in scale.words.items())
        return f"{name}: {scale.n:,} labels, {scale.n_distinct:,} different: {words}."
    return (
        f"{name}: {scale.n:,} judgments from {scale.least:g} to {scale.most:g}, "
        f"{scale.n_distinct:,} different values; {scale.likely}."
    )


def _row(row: Mapping[str, Any]) -> str:
    parts = [
        f"{row[name]:g}" if name == "value" else str(row[name])
        for name in _SHOWN
        if name != "word"
        and row[name] not in ("", None)
        and (name, row[name]) != ("role", Role.JUDGMENT.value)
    ]
    return " | ".join(parts + [str(row["word"])] * (row["value"] is None))
