"""The common form of all layouts: a row for each rating."""

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
    """The role of a row; only judgments (and roles that a layout adds) count."""

    JUDGMENT = "judgment"
    # the same text shown to the same worker once more
    REPEATED = "repeated"
    # a reference among the outputs
    REFERENCE = "reference"
    # a text of known quality, such as a damaged one, to test care
    PLANTED = "planted"
    TUTORIAL = "tutorial"
    # filler of a page or a task
    FILL_UP = "fill-up"
    # about a whole document, in files with ratings of segments
    DOCUMENT = "document"
    # the same worker rated it again later
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    DRAFT = "draft"
    # by a program
    PREDICTION = "prediction"
    # the correct answer
    KEY = "key"
    # the worker could see the system's name
    NAMES_SHOWN = "names shown"


#: Columns of `Judgments.rows`, with their types.
#: `file` and `row`: number of the source, from 0, and its line or record, from 1.
#: `other`: of a preference the system in second place, `system` being in the first; the
#: value is 1 if the first is preferred, 0 if the second is, and .5 for a tie.
#: `word`: the value as found. `value` is NaN if it is no number and has no order.
#: `page` groups outputs on one screen; `place` counts from 0, -1: not recorded.
#: `at`: Unix seconds. `seconds`: duration. Both NaN if not recorded.
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
# A larger share of judgments is seldom said again.
_MANY = 0.1
# A time farther than this from 1970, in seconds, cannot be the time of a study.
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

    `start` and `end` count characters of the output from 0, the end exclusive; both are
    None for an omission. `severity` is "minor", "major", "critical", "neutral", another
    word of the file, or "". `category` is as in the file, levels joined by "/".
    """

    start: int | None
    end: int | None
    severity: str = ""
    category: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the span for JSON; an omission has no place."""
        about = {"severity": self.severity, "category": self.category}
        if self.start is None or self.end is None:
            return {"missing": True, **about}
        return {"start": self.start, "end": self.end, **about}


@dataclass(frozen=True)
class Problem:
    """A problem of a file and its place.

    `row` is the line or record, from 1, and 0 for the whole file; `field` is the column
    or key, and "" for all. A row with a `fatal` problem cannot be used.
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
    """Return a problem without names and ids of people, so that it can be stored."""
    return without_people(str(replace(problem, source=kept_name(problem.source))))


@dataclass
class Texts:
    """The texts that raters saw, if the files have them.

    `inputs` is instance -> field -> text, `outputs` is (system, instance) -> text.
    """

    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Judgments:
    """Everything in files of one layout.

    `rows` have the columns of `COLUMNS`; `extra` has others, with the same index, and
    `counted` the roles that count by the publishers' rules. `documents` are by instance,
    in the test set's order if the file has it. `languages` are those of sources and
    outputs, "" if not stated; `lower_is_better` are criteria. If `standardised`, values
    are z-scores of workers. `scales` are what files state, such as "1 to 5".
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
    scales: dict[str, str] = field(default_factory=dict)

    def keep(self, row: Mapping[str, Any]) -> None:
        """Keep the document and texts of a row unless they are known already.

        The row has an instance, system and document, "source" and "output".
        """
        instance, system = row["instance"], row["system"]
        if row["document"]:
            self.documents.setdefault(instance, row["document"])
        if row["source"]:
            self.texts.inputs.setdefault(instance, {"source": row["source"]})
        if row["output"]:
            self.texts.outputs.setdefault((system, instance), row["output"])

    def report(
        self, source: str, row: int, column: str, sentence: str, *, fatal: bool = True
    ) -> None:
        self.problems.append(Problem(source, row, column, sentence, fatal))

    @property
    def judged(self) -> pd.DataFrame:
        return self.rows[self.rows["role"].isin([role.value for role in self.counted])]

    def n_by_role(self) -> dict[str, int]:
        counts = self.rows["role"].value_counts()
        return {str(role): int(n) for role, n in counts.sort_index().items()}


def frame(columns: Mapping[str, Sequence[Any] | Any]) -> pd.DataFrame:
    """Return all columns of `Judgments.rows` from some of them.

    The given columns have one length; a single value applies to all rows. Missing
    columns have their default. The index is 0, 1, ...
    """
    import pandas as pd

    unknown = set(columns) - set(COLUMNS)
    if unknown:
        raise ValueError(f"Judgments have no column {sorted(unknown)[0]}.")
    n = max((len(v) for v in columns.values() if not _is_one(v)), default=0)
    made = {}
    for name, kind in COLUMNS.items():
        value = columns.get(name, _DEFAULTS[name])
        if _is_one(value):
            value = [value] * n if kind == "object" else np.full(n, value)
        made[name] = pd.Series(value, dtype=kind).reset_index(drop=True)
    # no calendar has such times, and no duration is infinite
    made["at"] = made["at"].where((made["at"] > -_FAR) & (made["at"] < _FAR))
    made["seconds"] = made["seconds"].where(np.isfinite(made["seconds"]))
    return pd.DataFrame(made, copy=False)


def from_rows(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows of `Judgments` from mappings, which may leave columns out."""
    listed = list(rows)
    return frame(
        {name: [row.get(name, _DEFAULTS[name]) for row in listed] for name in COLUMNS}
    )


def _is_one(value: object) -> bool:
    return isinstance(value, str) or value is None or np.isscalar(value)


def supersede(
    rows: pd.DataFrame, by: Sequence[str], roles: Sequence[Role] = (Role.JUDGMENT,)
) -> int:
    """Mark all but the last of repeated rows as superseded; return their number.

    Only rows with these `roles` are compared, and `rows` is changed in place. Rows with
    the same values in the columns `by` repeat each other. The last has the latest `at`;
    without times, it is the last in the file. Rows without a worker or an instance
    never repeat each other.
    """
    live = rows["role"].isin([role.value for role in roles])
    for name in {"worker", "instance"} & set(by):
        live &= rows[name].astype(bool)
    at = rows["at"][live].sort_values(kind="stable", na_position="first")
    filled = [name for name in by if any(rows[name])]
    latest = rows.loc[at.index if at.notna().any() else live, filled or list(by)]
    repeated = latest.index[latest.duplicated(keep="last")]
    rows.loc[repeated, "role"] = Role.SUPERSEDED.value
    return len(repeated)


def mark_repeated(judgments: Judgments, name: str) -> None:
    """Mark all but the last of repeated judgments, and report their number.

    Many with other values are taken for ratings of items or raters that no column names.
    """
    by = ["worker", "instance", "system", "other", "criterion", "page"]
    before = judgments.rows["role"].copy()
    n = supersede(judgments.rows, by)
    live = judgments.rows[before == Role.JUDGMENT.value]
    repeated = (
        live[live.duplicated(by, keep=False)]
        if max(5, _MANY * len(live)) < n < len(live) / 3
        else live[:0]
    )
    differ = repeated.groupby(by)["value"].nunique() > 1
    sentence = f"Rows said again by the same worker, of which the last holds: {n:,}."
    if differ.mean() > 0.5:
        judgments.rows["role"] = before
        sentence = (
            f"{n:,} rows have a worker, item and system of an earlier row, and most of them "
            "another value: all count, as of items or workers that no column names."
        )
    judgments.problems += [Problem(name, 0, "", sentence, fatal=False)] * bool(n)
