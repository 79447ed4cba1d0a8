"""A preview of files, for people to check before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """The values of a criterion.

    Parameters
    ----------
    n : int
        Judgments.
    least, most : float or None
        None if no value is a number.
    n_distinct : int
        Different values, or different words.
    likely : str
        The kind of values in a few words; for ratings, the scale that would be stored.
    words : dict of str to int
        The commonest words with their counts, if no value is a number.
    scale : UsedScale or None
        None if the values are no ratings.
    """

    criterion: str
    n: int
    least: float | None
    most: float | None
    n_distinct: int
    likely: str
    words: Mapping[str, int]
    scale: UsedScale | None = None

    def to_dict(self) -> dict[str, Any]:
        used = self.scale and dict(vars(self.scale))
        return {**vars(self), "scale": used}


@dataclass(frozen=True)
class Preview:
    """Everything that a person checks before an import.

    Parameters
    ----------
    counted : tuple of str
        Roles that count as ratings.
    systems : dict of str to int
        Ratings of each, at most `MOST_NAMES`, the most rated first.
    n_systems, n_instances, n_workers, n_pages : int
        Among rows that count.
    criteria : tuple of str
        Criteria with numbers, the one that ranks first.
    board : tuple of (str, tuple)
        Each system with its n and plain mean by criterion (None: no number), the best
        first. Of preferences, the mean is the share won.
    words : tuple of dict
        The commonest words without a number: `word`, `n`, `criteria`, `paired`.
    problems : tuple of Problem
        The first, fatal ones before others.
    texts : dict of str to int
        Counts of inputs, outputs and references.
    unknown : tuple of str
        Details that the files lack.
    refused : tuple of str
        Reasons against storing this: mixed scales, no ratings.
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
        found = dict(vars(self))
        found["scales"] = [scale.to_dict() for scale in self.scales]
        found["problems"] = [
            {**vars(problem), "text": told(problem)} for problem in self.problems
        ]
        return found

    def to_text(self) -> str:
        roles = ", ".join(f"{n:,} {role}" for role, n in self.roles.items())
        lines = [
            f"Layout {self.layout}: {roles}.",
            f"Judgments are the rows with the role {' or '.join(self.counted)}: "
            f"{self.n_systems:,} systems, {self.n_instances:,} instances, "
            f"{self.n_workers:,} workers, {self.n_pages:,} pages.",
            *(_line(scale) for scale in self.scales),
        ]
        if any(self.texts.values()):
            texts = ", ".join(f"{n:,} {name}" for name, n in self.texts.items())
            lines.append(f"Texts: {texts}.")
        if any(self.languages):
            lines.append(f"Languages: {' to '.join(filter(None, self.languages))}.")
        lines.append(f"Not known: {', '.join(self.unknown)}.")
        if self.words:
            words = [f"{one['word']} ({one['n']:,})" for one in self.words]
            lines.append(f"Words without a number: {', '.join(words)}.")
        name = (self.criteria or ("",))[0]
        lines += ["", f"Systems by {name or 'mean'}, with n:"]
        lines += [
            f"  {system}: {cells[0][1]:.4g} (n = {cells[0][0]:,})"
            if cells[0]
            else f"  {system}"
            for system, cells in self.board
        ]
        lines += ["", "First rows:"]
        lines += ["  " + _row(row) for row in self.rows]
        if self.n_problems:
            lines += [
                "",
                f"Problems: {self.n_problems:,}; rows that cannot be used: "
                f"{self.n_fatal:,}.",
            ]
            lines += [f"  {problem}" for problem in self.problems]
        if len(self.problems) < self.n_problems:
            lines.append(f"  and {self.n_problems - len(self.problems):,} more")
        lines += [f"Refused: {sentence}" for sentence in self.refused]
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
            "criteria": list(map(str, rows["criterion"].unique())),
            "paired": bool((rows["other"] != "").any()),
        }
        for word, rows in left.groupby("word", sort=True)
    ]
    return tuple(sorted(found, key=lambda one: -one["n"])[:MOST_WORDS])


def _scale(criterion: str, rows: pd.DataFrame, scale: UsedScale | None) -> Scale:
    values = rows["value"].to_numpy()
    values = values[~np.isnan(values)]
    if not len(values):
        words = rows["word"].value_counts().sort_index(kind="stable")
        words = words.sort_values(ascending=False, kind="stable")
        common = {str(word): int(n) for word, n in words.head(10).items()}
        return Scale(criterion, len(rows), None, None, len(words), "labels", common)
    different = np.unique(values)
    if (rows["other"] != "").all():
        likely = "preference, with ties" if 0.5 in different else "preference, no ties"
    else:
        likely = _in_words(scale)
    least, most = float(different[0]), float(different[-1])
    n = len(different)
    return Scale(criterion, len(rows), least, most, n, likely, {}, scale)


def _in_words(scale: UsedScale | None) -> str:
    if scale is None:
        return "not for a board"
    confirm = "" if scale.confirmed else "; to be confirmed"
    return f"{scale.shown} ({scale.source}{confirm})"


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
    found = []
    if judged.empty:
        return ("There are no judgments.",)
    if not (judged["system"] != "").any():
        found.append("No judgment names a system: there is nothing to rank.")
    rated = judged[judged["value"].notna() & (judged["other"] == "")]
    for criterion, rows in rated.groupby("criterion", sort=True):
        name = str(criterion) or "the values"
        ends = rows.groupby("file")["value"].agg(["min", "max", "size"])
        ends = ends[ends["size"] >= _ENOUGH]
        if _is_mixed(ends["min"].tolist(), ends["max"].tolist()):
            pairs = zip(ends["min"].tolist(), ends["max"].tolist(), strict=True)
            ranges = ", ".join(f"{least:g} to {most:g}" for least, most in pairs)
            found.append(
                f"The files have different scales of {name} "
                f"({ranges}): import them one by one."
            )
    return tuple(found)


def _is_mixed(least: Sequence[float], most: Sequence[float]) -> bool:
    """Check for points or z-scores in some parts and 0 to 100 or more in others."""
    ends = list(zip(least, most, strict=True))
    small = any(low >= 0 and high <= 10 for low, high in ends)
    signed = any(low < 0 < high and high <= 20 for low, high in ends)
    large = any(low >= 0 and high > 20 for low, high in ends)
    return large and (small or signed)


def _shown(rows: pd.DataFrame) -> list[dict[str, Any]]:
    listed = rows[list(_SHOWN)].to_dict("records")
    for row in listed:
        row["value"] = None if np.isnan(row["value"]) else float(row["value"])
    return [{str(key): value for key, value in row.items()} for row in listed]


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
        if name != "word" and row[name] not in ("", None)
    ]
    if row["role"] == Role.JUDGMENT.value:
        parts = parts[1:]
    if row["value"] is None:
        parts.append(str(row["word"]))
    return " | ".join(parts)
