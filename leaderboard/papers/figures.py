"""Sets of figures that are computed from any ratings.

A figure's id is `PART/ROW/NAME`. The part is a language pair, a campaign or a
criterion; the row is a system, a pair `A>B` or a judge. A figure of the whole has no
row.
"""

from __future__ import annotations

import csv
import io
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover
from leaderboard.files import read_file

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments


# One printed number, the number computed here, and the verdict.
Value = float | str


class Verdict(StrEnum):
    HOLDS = "holds"
    NOT_MET = "not met"  # with an explanation
    FAILS = "FAILS"  # without one
    OURS_ONLY = "ours only"
    NO_DATA = "no data"


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    paper : float, str or None
        The printed number; None if there is none.
    ours : float, str or None
        The number computed here; None if it cannot be computed from the data.
    tolerance : float, (float, float) or None
        Allowed distance between the two, or the range in which the printed number must
        lie. Texts must be equal.
    why : str
        Why the printed number cannot be reproduced, or what ours leaves out.
    must_hold : bool
        False for printed numbers that cannot be reproduced; they cannot fail.
    digits : int or None
        Decimals to show; None for three significant figures.
    also : mapping
        More figures of ours, by their names.
    source : str
        "published", or "computed" by others than the authors.
    """

    row: str
    column: str
    paper: Value | None
    ours: Value | None
    tolerance: float | tuple[float, float] | None = None
    why: str = ""
    must_hold: bool = True
    digits: int | None = 2
    also: Mapping[str, float] = field(default_factory=dict)
    source: str = "published"

    @property
    def verdict(self) -> Verdict:
        if self.ours is None:
            return Verdict.NO_DATA
        if self.paper is None:
            return Verdict.OURS_ONLY
        if self._agrees():
            return Verdict.HOLDS
        return Verdict.FAILS if self.must_hold else Verdict.NOT_MET

    def _agrees(self) -> bool:
        if isinstance(self.paper, str) or isinstance(self.ours, str):
            return self.paper == self.ours
        accepted = self.accepted_range
        if self.paper is None or accepted is None:
            return self.paper == self.ours
        # both comparisons are false if ours is NaN
        return accepted[0] <= self.paper <= accepted[1]

    @property
    def accepted_range(self) -> tuple[float, float] | None:
        """Range of printed numbers that agree with ours; None without a tolerance."""
        if self.tolerance is None or isinstance(self.ours, str) or self.ours is None:
            return None
        if isinstance(self.tolerance, tuple):
            return self.tolerance
        slack = self.tolerance + 1e-9  # .005 is slightly more in binary
        return self.ours - slack, self.ours + slack

    def to_dict(self) -> dict[str, Any]:
        accepted = self.accepted_range
        return {
            "row": self.row,
            "column": self.column,
            "paper": _plain(self.paper),
            "ours": _plain(self.ours),
            "accepted": None if accepted is None else [_plain(end) for end in accepted],
            "verdict": self.verdict.value,
            "source": self.source,
            "must_hold": self.must_hold,
            "why": self.why,
            "also": {name: _plain(value) for name, value in self.also.items()},
        }


def _plain(value: Value | None) -> Value | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_value(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def format_value(value: Value, digits: int | None) -> str:
    """Return a computed value as text; without digits, three significant figures."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "--"
    return f"{value:.3g}" if digits is None else f"{value:.{digits}f}"


Computed = dict[str, Value]
#: Layouts, scores and other settings of a set of figures.
Settings = Mapping[str, Any]


class Figures(ABC):
    #: Prefix of the figures' names: `da` and `wins` make `da-wins`.
    slug: str
    title: ClassVar[str]
    #: Name of each figure, with a description.
    names: ClassVar[Mapping[str, str]]
    #: The most likely layouts of files.
    layouts: ClassVar[tuple[str, ...]] = ()
    #: Whether ratings of several criteria belong together.
    pooled: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures that these ratings have, by `ROW/NAME`.

        Raises
        ------
        GenieError, ValueError
            If they cannot be computed from such ratings.
        """


def all_figures() -> dict[str, type[Figures]]:
    return discover("leaderboard.papers.figure_sets", Figures)


def under(part: str, figures: Mapping[str, Value]) -> Computed:
    """Prefix figures with a part; the empty one changes nothing."""
    return {f"{part}/{id}" if part else id: value for id, value in figures.items()}


def by_row(name: str, values: Mapping[str, Any] | pd.Series) -> Computed:
    """Return one figure of many rows, by `ROW/NAME`."""
    return {f"{row}/{name}": plain(value) for row, value in values.items()}


def plain(value: Any) -> Value:
    """Return a value for a cell: ranges of ranks as `1-3`, True and False as words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "-".join(f"{each:g}" for each in value)
    return value if isinstance(value, str) else float(value)


def ranks(means: Mapping[str, float] | pd.Series) -> Computed:
    """Return ranks from the highest mean down; ties are ordered by name."""
    order = sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))
    return {str(name): float(place) for place, (name, _) in enumerate(order, 1)}


def first_criterion(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first criterion.

    If people gave a score, their error marks are a second row, with an MQM score.
    """
    return rows[rows["criterion"] == rows["criterion"].iloc[0]] if len(rows) else rows


# Read lists of printed numbers, and compare each with ours.
PUBLISHED = "published"
_MOST_DIGITS = 10
_FIRST = 5  # problems that a message lists


@dataclass(frozen=True)
class Printed:
    """A printed number.

    Parameters
    ----------
    id : str
        `PART/ROW/NAME` of the figure that it should equal.
    value : float or str
        Ranges of ranks as `1-3`, yes and no as words.
    tolerance : float or None
        Allowed difference from ours; None: none.
    source : str
        "published" if it is in a paper, table or file of the authors.
    note : str
        Its place and its definition.
    why : str
        Why it cannot be reproduced; "" if it should be.
    table : str
        The table of the number; "" if not stated.
    """

    id: str
    value: Value
    tolerance: float | None = None
    source: str = PUBLISHED
    note: str = ""
    why: str = ""
    table: str = ""


def read_expected(path: Path) -> list[Printed]:
    """Read a list of objects, or a CSV table: id, value, tolerance, source and note.

    Raises "bad-expected", with all wrong entries.
    """
    return expected_of(read_file(path), path.name)


def expected_of(text: str, name: str = "The list") -> list[Printed]:
    """Read the same from a text; it is JSON if it begins with a bracket."""
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise not_usable(name, [f"it is not JSON: {error}"]) from error
    else:
        entries = list(csv.DictReader(io.StringIO(text)))
    read = [_read_printed(entry) for entry in entries]
    wrong = [
        f"entry {i} {one}" for i, one in enumerate(read, 1) if isinstance(one, str)
    ]
    listed = [one for one in read if isinstance(one, Printed)]
    again = {id for id, n in Counter(one.id for one in listed).items() if n > 1}
    wrong += [f"{id} appears twice" for id in sorted(again)]
    if wrong:
        raise not_usable(name, wrong)
    return listed


def not_usable(name: str, wrong: Sequence[str]) -> GenieError:
    """Return the error for a list, with all problems in its details."""
    more = len(wrong) - _FIRST
    said = "; ".join(wrong[:_FIRST]) + (f"; and {more:,} more" if more > 0 else "")
    return GenieError(
        f"{name} cannot be used: {said}.",
        code="bad-expected",
        details={"problems": list(wrong)},
    )


def _read_printed(entry: object) -> Printed | str:
    if not isinstance(entry, Mapping) or not str(entry.get("id") or "").strip():
        return "has no id"
    value, tolerance = entry.get("value"), entry.get("tolerance")
    id = str(entry["id"]).strip()
    if value in (None, "") or isinstance(value, Mapping):
        return f"({id}) has no value"
    try:
        read = _value(value)
        within = None if tolerance in (None, "") else abs(float(tolerance))
    except (TypeError, ValueError):
        return f"({id}) has a value that is not a number"
    if not all(
        math.isfinite(number) for number in (read, within) if isinstance(number, float)
    ):
        return f"({id}) has an infinite number"
    words = (str(entry.get(key) or "") for key in ("note", "why", "table"))
    return Printed(id, read, within, str(entry.get("source") or PUBLISHED), *words)


def _value(value: Any) -> Value:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            words = {"true": "yes", "false": "no"}
            return words.get(value.strip().lower(), value.strip())
    return plain(value)


def find(figures: Mapping[str, Value], id: str) -> Value | None:
    """Return a figure by its id; the name may come before the row, as in `p/A>B`."""
    if id in figures:
        return figures[id]
    parts = id.split("/")
    return figures.get("/".join([*parts[:-2], *parts[:-3:-1]]))


def compare_figures(
    printed: Sequence[Printed],
    figures: Mapping[str, Value],
    also: Mapping[str, Mapping[str, float]] | None = None,
) -> list[Cell]:
    """Return a cell for each printed number.

    `figures` and `also` (more figures of ours) have the printed numbers' ids.
    """
    further = also or {}
    return [
        _cell(one, find(figures, one.id), further.get(one.id, {})) for one in printed
    ]


def _cell(one: Printed, ours: Value | None, also: Mapping[str, float]) -> Cell:
    row, _, column = one.id.rpartition("/")
    return Cell(
        row,
        column,
        one.value,
        ours,
        one.tolerance,
        why="No figure with this name is computed from these judgments."
        if ours is None and not one.why
        else one.why,
        must_hold=not one.why,
        digits=_digits(one.tolerance),
        also=also,
        source=one.source,
    )


def _digits(tolerance: float | None) -> int | None:
    if not tolerance:
        return None if tolerance is None else 0
    return next(
        (n for n in range(2, _MOST_DIGITS) if 10**-n <= tolerance), _MOST_DIGITS
    )
