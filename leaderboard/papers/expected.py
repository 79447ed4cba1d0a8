"""Read lists of printed numbers, and compare each with ours."""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.papers.cell import Cell, Value
from leaderboard.papers.figures import plain

PUBLISHED = "published"
_NO_FIGURE = "No figure of this name is computed from these judgments."
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
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GenieError(
            f"{path.name} cannot be read: {error}.", code="no-file"
        ) from error
    return expected_of(text, path.name)


def expected_of(text: str, name: str = "The list") -> list[Printed]:
    """Read the same from a text; it is JSON if it begins with a bracket."""
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise not_usable(name, [f"it is not JSON: {error}"]) from error
    else:
        entries = list(csv.DictReader(io.StringIO(text)))
    read = [_printed(entry) for entry in entries]
    wrong = [
        f"entry {i} {one}" for i, one in enumerate(read, 1) if isinstance(one, str)
    ]
    listed = [one for one in read if isinstance(one, Printed)]
    again = {id for id, n in Counter(one.id for one in listed).items() if n > 1}
    wrong += [f"{id} is there twice" for id in sorted(again)]
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


def _printed(entry: object) -> Printed | str:
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
        return f"({id}) has something other than numbers"
    if not all(
        math.isfinite(number) for number in (read, within) if isinstance(number, float)
    ):
        return f"({id}) has a number without end"
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


def compared(
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
        why=_NO_FIGURE if ours is None and not one.why else one.why,
        must_hold=not one.why,
        digits=_digits(one.tolerance),
        also=also,
        source=one.source,
    )


def _digits(tolerance: float | None) -> int | None:
    """Return the decimals that the tolerance needs."""
    if not tolerance:
        return None if tolerance is None else 0
    return next(
        (n for n in range(2, _MOST_DIGITS) if 10**-n <= tolerance), _MOST_DIGITS
    )
