"""What every layout's file becomes: one row for each thing that somebody said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.imports.readers.people import kept_name, without_people

if TYPE_CHECKING:
    import pandas as pd


class Role(StrEnum):
    """What a row is; only judgments (and what a layout's rules add) reach a board."""

    JUDGMENT = "judgment"
    # the same text shown to the same worker once more
    REPEATED = "repeated"
    # a reference among the outputs
    REFERENCE = "reference"
    # a damaged or otherwise known text, to see who is careful
    PLANTED = "planted"
    TUTORIAL = "tutorial"
    # what only made a page or a task full
    FILL_UP = "fill-up"
    # of a whole document, where the others are of its segments
    DOCUMENT = "document"
    # said again later by the same worker
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    DRAFT = "draft"
    # by a program
    PREDICTION = "prediction"
    # the right answer, not anybody's
    KEY = "key"
    # the worker could see whose output it was
    NAMES_SHOWN = "names shown"


#: Columns of `Judgments.rows`, with their types.
#: `file` and `row`: which source, from 0, and its line or record, from 1.
#: `other`: of a preference the system in second place, `system` being in the first; the
#: value is 1 where the first is preferred, 0 where the second is, and .5 a tie.
#: `word`: the value as found. `value` is NaN where it is no number and has no order.
#: `page` groups what was on the screen together; `place` counts from 0, -1: not known.
#: `at`: Unix seconds. `seconds`: how long it took. Both NaN where nobody knows.
#: `spans`: None, or a list of `Span` as dictionaries.
COLUMNS: Mapping[str, str] = {
    "file": "int64",
    "row": "int64",
    "role": "object",
    "worker": "object",
    "instance": "object",
    "system": "object",
    "other": "object",
    "criterion": "object",
    "value": "float64",
    "word": "object",
    "page": "object",
    "place": "int64",
    "document": "object",
    "at": "float64",
    "seconds": "float64",
    "spans": "object",
}
_USUAL: Mapping[str, Any] = {"int64": 0, "object": "", "float64": np.nan}
# A moment farther than this from 1970, in seconds, is no moment of a study.
_FAR = 1e11
_DEFAULTS = {
    **{name: _USUAL[kind] for name, kind in COLUMNS.items()},
    "role": Role.JUDGMENT.value,
    "place": -1,
    "spans": None,
}


@dataclass(frozen=True)
class Span:
    """A marked error.

    Parameters
    ----------
    start, end : int or None
        Characters of the output, from 0, the end exclusive; None where something is
        missing from it.
    severity : str
        "minor", "major", "critical", "neutral", or another word of the file; "" not said.
    category : str
        As the file has it, levels joined by "/"; "" not said.
    """

    start: int | None
    end: int | None
    severity: str = ""
    category: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON can hold it; an omission has no place."""
        about = {"severity": self.severity, "category": self.category}
        if self.start is None or self.end is None:
            return {"missing": True, **about}
        return {"start": self.start, "end": self.end, **about}


@dataclass(frozen=True)
class Problem:
    """Something that a person should know of a file, by its place.

    Parameters
    ----------
    source : str
        The file's name.
    row : int
        Line or record, from 1; 0 where it is about the whole file.
    field : str
        Column or key; "" where it is about all of it.
    sentence : str
        What is wrong and what to do, in a sentence.
    fatal : bool
        Whether the row cannot be used.
    """

    source: str
    row: int
    field: str
    sentence: str
    fatal: bool = True

    def __str__(self) -> str:
        place = f", row {self.row:,}" if self.row else ""
        column = f", {self.field}" if self.field else ""
        return f"{self.source}{place}{column}: {self.sentence}"


def told(problem: Problem) -> str:
    """Say a problem as it can be kept: without people, who may stand in paths and cells."""
    return without_people(str(replace(problem, source=kept_name(problem.source))))


@dataclass
class Texts:
    """What was shown, where the files have it.

    Parameters
    ----------
    inputs : dict of str to dict
        Instance -> field -> text.
    outputs : dict of (str, str) to str
        (system, instance) -> text.
    references : dict of str to list of str
        Instance -> references.
    """

    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Judgments:
    """All that files of one layout say.

    Parameters
    ----------
    layout : str
        Slug of the layout.
    rows : DataFrame
        With the columns of `COLUMNS`; `extra` has the same index.
    counted : tuple of Role
        Roles that the publishers' own rules count as judgments.
    extra : DataFrame
        Columns of the files that have no meaning here, as found.
    documents : dict of str to str
        Instance -> document, in the test set's order where the file has it.
    domains : dict of str to str
        Instance -> domain.
    languages : tuple of (str, str)
        Source and target language, "" where not said.
    lower_is_better : tuple of str
        Criteria whose smaller values are better.
    standardised : bool
        Whether the values are z-scores of workers instead of what they gave.
    published : dict of str to float
        Figures that stand in the files themselves, by name.
    scales : dict of str to str
        Criterion to the scale that the files state, such as "1 to 5".
    """

    layout: str
    rows: pd.DataFrame
    counted: tuple[Role, ...] = (Role.JUDGMENT,)
    extra: pd.DataFrame | None = None
    problems: list[Problem] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)
    documents: dict[str, str] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, str] = ("", "")
    lower_is_better: tuple[str, ...] = ()
    standardised: bool = False
    published: dict[str, float] = field(default_factory=dict)
    scales: dict[str, str] = field(default_factory=dict)

    @property
    def judged(self) -> pd.DataFrame:
        """The rows that count, in their order."""
        return self.rows[self.rows["role"].isin([role.value for role in self.counted])]

    def n_by_role(self) -> dict[str, int]:
        """Count the rows of each role."""
        counts = self.rows["role"].value_counts()
        return {str(role): int(n) for role, n in counts.sort_index().items()}


def frame(columns: Mapping[str, Sequence[Any] | Any]) -> pd.DataFrame:
    """Make the rows of `Judgments` from some of their columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        Some of `COLUMNS`, all of one length; one value stands for all rows. What is left
        out gets its usual value.

    Returns
    -------
    DataFrame
        With all columns in their order and the index 0, 1, ...
    """
    import pandas as pd

    unknown = set(columns) - set(COLUMNS)
    if unknown:
        raise ValueError(f"Judgments have no column {sorted(unknown)[0]}.")
    n = max(
        (len(v) for v in columns.values() if not _is_one(v)),
        default=0,
    )
    made = {}
    for name, kind in COLUMNS.items():
        value = columns.get(name, _DEFAULTS[name])
        if _is_one(value):
            value = [value] * n if kind == "object" else np.full(n, value)
        made[name] = pd.Series(value, dtype=kind).reset_index(drop=True)
    # no calendar has these moments, and nobody took endlessly long
    made["at"] = made["at"].where((made["at"] > -_FAR) & (made["at"] < _FAR))
    made["seconds"] = made["seconds"].where(np.isfinite(made["seconds"]))
    return pd.DataFrame(made)


def from_rows(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make the rows of `Judgments` from one mapping each, which may leave columns out."""
    listed = list(rows)
    return frame(
        {name: [row.get(name, _DEFAULTS[name]) for row in listed] for name in COLUMNS}
    )


def _is_one(value: object) -> bool:
    return isinstance(value, str) or value is None or np.isscalar(value)


def supersede(
    rows: pd.DataFrame,
    by: Sequence[str],
    roles: Sequence[Role] = (Role.JUDGMENT,),
) -> int:
    """Mark all but the last of the rows that are the same thing said again.

    Parameters
    ----------
    rows : DataFrame
        As in `Judgments`, changed in place.
    by : sequence of str
        Columns that say what the same thing is. The last is the one with the latest
        `at`; without times, the last in the file. Rows without a worker or an instance
        are not known to be the same.
    roles : sequence of Role
        Rows of these are looked at.

    Returns
    -------
    int
        How many were marked.
    """
    named = [name for name in ("worker", "instance") if name in by]
    known = (rows[named] != "").all(axis="columns")
    live = rows[rows["role"].isin([role.value for role in roles]) & known]
    latest = live.sort_values("at", kind="stable", na_position="first")
    repeated = latest.index[latest.duplicated(list(by), keep="last")]
    rows.loc[repeated, "role"] = Role.SUPERSEDED.value
    return len(repeated)
