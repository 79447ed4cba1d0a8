"""Readers of tables of ratings or pairs: CSV, TSV or JSONL, also gzipped, and Parquet.

Text is read at once by columns; only after an error is the file searched line by line, so
that the message has line and column.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.formats import is_parquet
from leaderboard.stats.intervals import Floats
from leaderboard.stats.rater_effects import worker_z_scores
from leaderboard.table_stats.layouts import KEPT, Layout, layout_of
from leaderboard.table_stats.lines import (
    complain,
    is_even,
    open_text,
    problem_in,
    read_lines,
)
from leaderboard.table_stats.parquet import (
    complain_of,
    header_of,
    read_columns,
)
from leaderboard.table_stats.people import (
    NOBODY,
    Programs,
    counting,
    people_of,
    programs_of,
)

if TYPE_CHECKING:
    import pandas as pd


# Preferences in tables of pairs.
_TIES = {
    *("", "tie", "equal", "both", "neither", "draw"),
    *("tie (bothbad)", "both_bad", "bothbad", "both bad"),
}
_FIRST = {"a", "first", "system_a", "model_a"}
_SECOND = {"b", "second", "system_b", "model_b"}


def outcomes(frame: pd.DataFrame, layout: Layout, path: Path) -> npt.NDArray[np.int64]:
    """Read preferences: 1 for system a, -1 for b, 0 for a tie.

    Raises
    ------
    GenieError
        ``same-system`` or ``bad-preference``, with the line.
    """
    a, b, preferred = (
        frame[layout.columns[name]].astype(object).fillna("").astype(str).str.strip()
        for name in ("system_a", "system_b", "preferred")
    )
    lower = preferred.str.lower()
    outcome = np.full(len(frame), 9, dtype=np.int64)
    outcome[lower.isin(_TIES)] = 0
    outcome[lower.isin(_FIRST)] = 1
    outcome[lower.isin(_SECOND)] = -1
    if layout.by_value:
        outcome = _of_numbers(lower, outcome)
    # a system's name takes precedence over the meaning of a letter
    outcome[preferred == a] = 1
    outcome[preferred == b] = -1
    line = frame.index.to_numpy() + 2
    if (a == b).any():
        at = int(line[np.argmax(a == b)])
        raise GenieError(
            f"{path.name}, line {at}: a system is compared with itself.",
            code="same-system",
        )
    if (outcome == 9).any():
        bad = int(np.argmax(outcome == 9))
        raise GenieError(
            f"{path.name}, line {int(line[bad])}, column {layout.columns['preferred']}: "
            f"{preferred.iloc[bad]!r} is neither of the two systems nor a tie.",
            code="bad-preference",
        )
    return outcome


def _of_numbers(
    words: pd.Series[str], outcome: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Read numeric preferences: 1, 0.5, 0 as a share of a, or 1, 0, -1."""
    import pandas as pd

    values = pd.to_numeric(words, errors="coerce").to_numpy(np.float64)
    signed = bool((values == -1).any())
    second, tie = (-1.0, 0.0) if signed else (0.0, 0.5)
    chosen = [values == 1, values == tie, values == second]
    return np.select(chosen, [1, 0, -1], outcome).astype(np.int64)


def as_word(cell: object) -> str:
    if cell is None:
        return ""
    return json.dumps(cell) if isinstance(cell, list) else str(cell)


Codes = npt.NDArray[np.intp]


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

    def where(self, rows: npt.NDArray[np.bool_] | slice) -> Labels:
        return Labels(self.narrow[rows], self.names)


@dataclass(frozen=True)
class Ratings:
    """Ratings as columns.

    Parameters
    ----------
    values : ndarray, shape (n,)
    labels : dict of str to Labels
        System and worker; optionally instance and page.
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


@dataclass
class _Part:
    layout: Layout
    labels: dict[str, pd.Categorical]
    values: dict[str, Any] = field(default_factory=dict)
    z_scores: Floats | None = None
    programs: Programs = NOBODY
    notes: list[str] = field(default_factory=list)


def read_tables(
    paths: Sequence[Path], criteria: Sequence[str] = ()
) -> list[Ratings] | list[Pairs]:
    """Read files of one layout as one table.

    Parameters
    ----------
    criteria : sequence of str
        Columns of ratings, if each criterion has a separate column.

    Returns
    -------
    list of Ratings or list of Pairs
        One for each criterion, by name; "" without criteria.

    Raises
    ------
    GenieError
        With file, line and column of the first error.
    """
    parts = [_read(path, criteria) for path in paths]
    kinds = {(part.layout.kind == "pairs", *sorted(part.labels)) for part in parts}
    if len(kinds) > 1:
        names = ", ".join(path.name for path in paths)
        raise GenieError(f"{names} have different columns.", code="mixed-files")
    labels = {
        name: _together([part.labels[name] for part in parts])
        for name in parts[0].labels
    }
    criterion = labels.pop("criterion", None)
    people, notes = people_of([part.programs for part in parts])
    said = tuple(dict.fromkeys(n for part in parts for n in part.notes)) + tuple(notes)
    if parts[0].layout.kind == "pairs":
        outcome = _joined([part.values["outcome"] for part in parts])
        return [
            Pairs(
                name,
                outcome[rows],
                {k: v.where(rows) for k, v in labels.items()},
                said,
            )
            for name, rows in _by_criterion(criterion, people)
        ]
    scores = [part.z_scores for part in parts if part.z_scores is not None]
    z_scores = np.concatenate(scores) if len(scores) == len(parts) else None
    found: dict[str, Ratings] = {}
    for column in parts[0].values:
        values = _joined([part.values[column] for part in parts])
        for name, rows in _by_criterion(criterion, people):
            title = name or column
            chosen = {k: v.where(rows) for k, v in labels.items()}
            own = None if z_scores is None else z_scores[rows]
            found[title] = Ratings(title, values[rows], chosen, own, said)
    return [found[name] for name in sorted(found)]


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _by_criterion(
    criterion: Labels | None, people: npt.NDArray[np.bool_] | None
) -> Iterator[tuple[str, npt.NDArray[np.bool_] | slice]]:
    if criterion is None:
        yield "", slice(None) if people is None else people
        return
    for code, name in enumerate(criterion.names):
        rows = criterion.narrow == code
        if people is not None:
            rows &= people
        if rows.any():
            yield name, rows


def _together(columns: list[pd.Categorical]) -> Labels:
    from pandas.api.types import union_categoricals

    whole = columns[0] if len(columns) == 1 else union_categoricals(columns)
    used = whole.remove_unused_categories()
    # by name, so that results do not depend on the order of the lines
    order = np.argsort(used.categories.to_numpy(dtype=object), kind="stable")
    place = np.empty(len(order), dtype=used.codes.dtype)
    place[order] = np.arange(len(order))
    names = [str(used.categories[i]) for i in order]
    return Labels(place[used.codes], names)


def _read(path: Path, criteria: Sequence[str]) -> _Part:
    try:
        if is_parquet(path):
            return _from_parquet(path, criteria)
        with open_text(path) as file:
            first = next((line for line in file if line.strip()), "")
        if not first:
            raise GenieError(f"{path} is empty.", code="empty-file")
        if first.lstrip().startswith("{"):
            return _from_json_lines(path, criteria)
        mark = "\t" if "\t" in first else ","
        header = next(csv.reader([first.rstrip("\r\n")], delimiter=mark))
        layout = layout_of(path.name, header, criteria)
        return _from_table(path, mark, layout)
    except FileNotFoundError as error:
        raise GenieError(f"There is no file {path}.", code="no-file") from error
    except UnicodeDecodeError as error:
        raise GenieError(f"{path} is not UTF-8 text.", code="not-text") from error
    except (OSError, EOFError) as error:
        raise GenieError(f"{path} cannot be read: {error}.", code="not-read") from error


def _from_table(path: Path, mark: str, layout: Layout) -> _Part:
    try:
        frame = read_lines(path, mark, layout.words, layout.numbers)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        complain(path, mark, layout)
        raise GenieError(f"{path}: {error}", code="not-a-table") from error
    if not is_even(path, mark, len(frame)):
        complain(path, mark, layout)
    return _meant(path, layout, frame, lambda _: complain(path, mark, layout))


def _from_parquet(path: Path, criteria: Sequence[str]) -> _Part:
    layout = layout_of(path.name, header_of(path), criteria)
    frame = read_columns(path, layout.words, layout.numbers)
    return _meant(path, layout, frame, lambda rows: complain_of(path, layout, rows))


def _meant(
    path: Path,
    layout: Layout,
    frame: pd.DataFrame,
    complain: Callable[[pd.DataFrame], None],
) -> _Part:
    """Select the rows to keep; complain if any of them has a missing cell."""
    rows = _kept(frame, layout)
    z_scores = _z_scores(frame, layout, rows)
    if not rows.all():
        frame = frame[rows]
    if frame.empty:
        raise GenieError(f"{path} has no line with a rating.", code="no-ratings")
    wrong = any(frame[column].isna().any() for column in layout.names)
    wrong |= not np.isfinite(frame[layout.numbers].to_numpy()).all()
    if wrong:
        complain(frame)
    part = _part(frame, layout, path)
    part.z_scores = z_scores
    return part


def _z_scores(
    frame: pd.DataFrame, layout: Layout, rows: npt.NDArray[np.bool_]
) -> Floats | None:
    """Standardize as WMT does, including references and damaged texts."""
    by_type = layout.keep is not None and layout.keep.strip().lower() == "type"
    if rows.all() or not by_type or layout.kind != "ratings" or layout.criteria:
        return None
    values = frame[layout.columns["value"]].to_numpy(np.float64)
    if not np.isfinite(values).all():
        return None
    workers = frame[layout.columns["worker"]].cat.codes.to_numpy()
    return worker_z_scores(values, workers)[rows]


def _kept(frame: pd.DataFrame, layout: Layout) -> npt.NDArray[np.bool_]:
    if layout.keep is None:
        return np.ones(len(frame), dtype=np.bool_)
    marks = frame[layout.keep].astype(str)
    meant = KEPT[layout.keep.strip().lower()]
    rows: npt.NDArray[np.bool_] = marks.isin(meant).to_numpy()
    # a column "type" may have a different meaning
    other = layout.keep.strip().lower() == "type" and not rows.any()
    return ~rows if other else rows


def _part(frame: pd.DataFrame, layout: Layout, path: Path) -> _Part:
    if layout.kind == "pages":
        return _stacked(frame, layout)
    rows, notes = counting(frame, layout)
    if not rows.all():
        frame = frame[rows]
    labels = {
        name: frame[column].astype("category").array
        for name, column in layout.labels.items()
    }
    part = _Part(layout, labels, programs=programs_of(frame, layout), notes=notes)
    if layout.kind == "pairs":
        part.values = {"outcome": outcomes(frame, layout, path)}
    else:
        columns = dict.fromkeys(layout.criteria) or {"": layout.columns["value"]}
        part.values = {
            name: frame[column or name].to_numpy(np.float64)
            for name, column in columns.items()
        }
    return part


def _stacked(frame: pd.DataFrame, layout: Layout) -> _Part:
    from pandas.api.types import union_categoricals

    places = range(1, layout.places + 1)
    labels = {
        name: union_categoricals([frame[column].array] * layout.places)
        for name, column in layout.labels.items()
    }
    labels["system"] = union_categoricals([frame[f"sys{k}"].array for k in places])
    values = {
        name: np.concatenate([frame[f"{name}{k}"].to_numpy(np.float64) for k in places])
        for name in layout.criteria
    }
    return _Part(layout, labels, values, programs=programs_of(frame, layout))


def _from_json_lines(path: Path, criteria: Sequence[str]) -> _Part:
    import pandas as pd

    records: list[dict[str, Any]] = []
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise GenieError(
                    f"{path.name}, line {number}, is not a JSON object.",
                    code="not-json",
                )
            records.append(record)
    layout = layout_of(path.name, list(records[0]), criteria)
    numbers, names = layout.numbers, layout.names
    for number, record in enumerate(records, 1):
        cells = {
            k: "" if record.get(k) is None else str(record[k])
            for k in (*numbers, *names)
        }
        if problem := problem_in(cells, numbers, names):
            raise GenieError(
                f"{path.name}, record {number}, {problem}", code="bad-cell"
            )
    columns: dict[str, Any] = {
        column: pd.Categorical([str(record[column]) for record in records])
        for column in names
    }
    for column in numbers:
        columns[column] = [float(record[column]) for record in records]
    for column in layout.free:
        columns[column] = pd.Categorical([as_word(r.get(column)) for r in records])
    frame = pd.DataFrame(columns)
    return _part(frame[_kept(frame, layout)], layout, path)
