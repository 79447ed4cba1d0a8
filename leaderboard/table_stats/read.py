"""Ratings and pairs as columns, from files of any columns with roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.files import File, printable
from leaderboard.imports.readers.columns import names_in
from leaderboard.imports.readers.judgments import Judgments, Role
from leaderboard.imports.readers.mapping import EACH, read_words
from leaderboard.imports.readers.read import read
from leaderboard.imports.readers.sources import sources_in
from leaderboard.stats.intervals import Floats
from leaderboard.stats.rater_effects import worker_z_scores

if TYPE_CHECKING:
    import pandas as pd

Codes = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
_COUNTED = (Role.JUDGMENT, Role.REPEATED, Role.PREDICTION)
_LEFT_OUT = {
    Role.SUPERSEDED: "repeated votes by the same worker",
    Role.NAMES_SHOWN: "votes with the systems' names shown",
    Role.CANCELLED: "rows that do not count",
}
# Standardized with a worker's ratings, as WMT does, but not averaged.
_STANDARDS = (Role.REFERENCE, Role.PLANTED)
# Every criterion is ranked; rows that cannot be used are refused or noted here.
_USUAL = {"ranks": EACH, "lost": "yes"}
_NAMES = ("role", "system", "other", "worker", "instance", "criterion", "page")
# Columns of ratings and of pairs, by their names in judgments.
_OF_RATINGS = {name: name for name in ("system", "worker", "instance", "page", "day")}
_OF_PAIRS = {
    "system": "system_a",
    "other": "system_b",
    **{name: name for name in ("worker", "session", "instance")},
}
_SIMULATED = "simulated annotators"
_YES = ("true", "1", "1.0", "yes")
_NAMED = 5


@dataclass(frozen=True)
class Labels:
    """A column of names as codes.

    A column may have millions of rows, so `narrow` has codes of as few bytes as possible.
    """

    narrow: npt.NDArray[np.signedinteger[Any]]
    names: list[str]

    @property
    def codes(self) -> Codes:
        return self.narrow.astype(np.intp)

    @property
    def words(self) -> npt.NDArray[np.object_]:
        names = np.asarray(self.names, dtype=object)
        return np.asarray(names[self.narrow], dtype=object)

    def where(self, rows: Mask) -> Labels:
        return Labels(self.narrow[rows], self.names)


@dataclass(frozen=True)
class Ratings:
    """Ratings as columns.

    Parameters
    ----------
    values : ndarray, shape (n,)
    labels : dict of str to Labels
        System and worker; optionally instance, page and day.
    z_scores : ndarray, shape (n,), or None
        Standardized on all of a worker's ratings, if the file has more than these.
    """

    criterion: str
    values: Floats
    labels: dict[str, Labels]
    z_scores: Floats | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Pairs:
    """Preferences as columns.

    Parameters
    ----------
    outcome : ndarray, shape (n,)
        1 for system a, -1 for b, 0 for a tie.
    labels : dict of str to Labels
        system_a and system_b; worker or session, if recorded; optionally instance.
    """

    criterion: str
    outcome: npt.NDArray[np.int64]
    labels: dict[str, Labels]
    # parts of the files that are left out
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.outcome)


def read_tables(
    paths: Sequence[Path], choices: Mapping[str, Any] | None = None
) -> list[Ratings] | list[Pairs]:
    """Read files as one table, by a person's `choices` of roles.

    Returns
    -------
    list of Ratings or list of Pairs
        One for each criterion, by name; "" without criteria.

    Raises
    ------
    GenieError
        With file, row and column of the first error, or with the choices that settle
        what the columns are.
    """
    files = [file for path in paths for file in sources_in(path)]
    judgments, notes = _judgments(files, choices or {})
    rows, columns = judgments.rows, _columns(judgments)
    values, roles = rows["value"].to_numpy(), columns["role"]
    usable = ~np.isnan(values)
    is_paired = not _among(columns["other"], "").all()
    if is_paired and rows.duplicated(["file", "row"]).any():
        # with several columns of choices, an empty one is no tie
        usable &= (rows["word"] != "").to_numpy()
    counted = _rows_that_count(roles, usable, notes, is_paired=is_paired)
    if not counted.any():
        raise GenieError(
            f"{files[0].name} has no row with a rating.", code="no-ratings"
        )
    wanted = _OF_PAIRS if is_paired else _OF_RATINGS
    labels = _complete(columns, wanted, counted, files, rows)
    if not is_paired and "worker" not in labels:
        raise GenieError(
            f"No column of {files[0].name} names the raters; choose one of "
            f"{', '.join(map(printable, names_in(files)))} with --choose rater=COLUMN.",
            code="missing-column",
        )
    people = counted & ~_programs(columns, counted, notes)
    standards = usable & _among(roles, *_STANDARDS)
    found: list[Any] = []
    for code, name in enumerate(columns["criterion"].names):
        whole = columns["criterion"].narrow == code
        own = whole & people
        chosen = {key: one.where(own) for key, one in labels.items()}
        if is_paired and own.any():
            outcome = np.rint(2 * values[own] - 1).astype(np.int64)
            found.append(Pairs(name, outcome, chosen, tuple(notes)))
        elif own.any():
            z_scores = None
            if (rated := whole & standards).any():
                rated |= whole & counted
                workers = labels["worker"].narrow[rated]
                z_scores = worker_z_scores(values[rated], workers)[own[rated]]
            found.append(Ratings(name, values[own], chosen, z_scores, tuple(notes)))
    return found


def _judgments(
    files: Sequence[File], choices: Mapping[str, Any]
) -> tuple[Judgments, list[str]]:
    """Read files; refuse rows that cannot be used, or note them if a person chose so."""
    words = read_words(choices.get("words") or {})
    # an empty preference is a tie
    words["*"] = {"": "tie", **words["*"]}
    found = read(files, choices={**_USUAL, **choices, "words": words})
    wrong = [one for one in found.problems if one.fatal]
    if wrong and choices.get("lost", "no") == "no":
        raise GenieError(
            f"{wrong[0]} Correct it, or leave out these rows ({len(wrong):,}) with "
            "--choose lost=yes.",
            code="bad-cell",
        )
    notes = [
        one.sentence
        for one in found.problems
        if one.field == "rating" and not one.fatal
    ]
    notes += [f"Left out: {len(wrong):,} rows, such as {one}" for one in wrong[:1]]
    return found, notes


def _columns(judgments: Judgments) -> dict[str, Labels]:
    import pandas as pd

    found = {}
    more = pd.DataFrame() if judgments.extra is None else judgments.extra
    for table, chosen in ((judgments.rows, _NAMES), (more, more)):
        for name in chosen:
            # sorted, so that results do not depend on the order of the lines
            codes, names = pd.factorize(table[name].to_numpy(), sort=True)
            narrow = codes.astype(np.min_scalar_type(-len(names) - 1))
            found[str(name)] = Labels(narrow, list(names))
    return found


def _among(labels: Labels, *names: str) -> Mask:
    chosen = np.array([name in names for name in labels.names], dtype=bool)
    return np.asarray(chosen[labels.narrow])


def _rows_that_count(
    roles: Labels, usable: Mask, notes: list[str], *, is_paired: bool
) -> Mask:
    # ratings of the same output by the same worker all count, votes on a pair do not
    again = () if is_paired else (Role.SUPERSEDED,)
    counted = usable & _among(roles, *_COUNTED, *again)
    if not counted.any():  # the comparison was not meant to be blind
        return usable & _among(roles, Role.NAMES_SHOWN)
    for role, what in _LEFT_OUT.items():
        n = int((usable & ~counted & _among(roles, role)).sum())
        notes += [f"Left out: {n:,} {what}."] * bool(n)
    return counted


def _complete(
    columns: Mapping[str, Labels],
    wanted: Mapping[str, str],
    counted: Mask,
    files: Sequence[File],
    rows: pd.DataFrame,
) -> dict[str, Labels]:
    """Return columns by their names in the statistics, without those that are empty.

    Raises "bad-row" for an empty cell in another column.
    """
    labels = {}
    for name, label in wanted.items():
        if name not in columns:
            continue
        empty = counted & _among(columns[name], "")
        if not empty.any():
            labels[label] = columns[name]
        elif (counted & ~empty).any():
            file, row = rows[["file", "row"]].iloc[int(np.argmax(empty))]
            raise GenieError(
                f"{files[file].name}, row {row:,}, has no {label.replace('_', ' ')}, "
                "but other rows have one. Fill it in.",
                code="bad-row",
            )
    if "worker" in labels:
        labels.pop("session", None)
    return labels


def _programs(columns: Mapping[str, Labels], counted: Mask, notes: list[str]) -> Mask:
    """Find the rows that programs made, and add a note; none if programs made all.

    Hashes and numbers do not reveal programs.
    """
    rows = counted & _among(columns["role"], Role.PREDICTION)
    worker = columns["worker"]
    names = [worker.names[code] for code in np.unique(worker.narrow[rows])]
    if simulated := columns.get("simulated"):
        marked = [name for name in simulated.names if name.strip().lower() in _YES]
        more = counted & _among(simulated, *marked)
        names += [_SIMULATED] * bool((more & ~rows).any())
        rows |= more
    if not rows.any():
        return rows
    rest = ", …" * (len(names) > _NAMED)
    said = ", ".join(name[:40] for name in names[:_NAMED]) + rest
    if rows.sum() == counted.sum():
        notes.append(f"All of these ratings are by programs ({said}), not by people.")
        return ~counted
    notes.append(
        f"Left out: {rows.sum():,} by programs ({said}), which are not people."
    )
    return rows
