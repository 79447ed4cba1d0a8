"""Meaning of a table's columns, found by their usual names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from genie.lib.errors import GenieError
from leaderboard.imports.readers.names import ALIASES

#: Optional columns on how a row was made.
MARKS = ("simulated", "anony", "turn")
#: Values of rows to keep, by optional column: WMT's types, releases' marks.
KEPT = {"type": ("SYSTEM", "REPEAT"), "counts": ("true", "True", "1", "1.0")}


@dataclass(frozen=True)
class Layout:
    """Meaning of a file's columns.

    Parameters
    ----------
    kind : str
        "ratings", "pairs" or "pages" (several systems side by side on each line).
    columns : dict of str to str
        Column of each field in the file.
    criteria : tuple of str
        Columns with the ratings of one criterion each; for pages, the columns' prefixes
        before the place number.
    places : int
        Systems on a page.
    keep : str or None
        Column that selects rows, see `KEPT`.
    marks : tuple of str
        Columns on how a row was made: `MARKS`.
    """

    kind: str
    columns: dict[str, str]
    criteria: tuple[str, ...] = ()
    places: int = 0
    keep: str | None = None
    marks: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        return {
            name: column
            for name, column in self.columns.items()
            if name not in ("value", "preferred")
        }

    @property
    def by_value(self) -> bool:
        """Whether preferences are in a column of values, possibly numbers."""
        return self.columns["preferred"].strip().lower() in ALIASES["value"]

    @property
    def numbers(self) -> list[str]:
        if self.kind == "pages":
            places = range(1, self.places + 1)
            return [f"{name}{place}" for name in self.criteria for place in places]
        if self.kind == "pairs":
            return []
        return list(self.criteria) or [self.columns["value"]]

    @property
    def names(self) -> list[str]:
        """Columns with names, which must not be empty."""
        systems = [f"sys{place}" for place in range(1, self.places + 1)]
        return [*self.labels.values(), *systems]

    @property
    def words(self) -> list[str]:
        return [*self.names, *self.free]

    @property
    def free(self) -> list[str]:
        """Columns of words that may be empty."""
        # an empty preference is a tie, and marks may have any value
        preferred = [self.columns["preferred"]] if self.kind == "pairs" else []
        kept = [self.keep] if self.keep else []
        return [*preferred, *kept, *self.marks]


def layout_of(name: str, header: Sequence[str], criteria: Sequence[str] = ()) -> Layout:
    """Find the meaning of a table's columns.

    Parameters
    ----------
    name : str
        The file, for error messages.
    header : sequence of str
        Its columns.
    criteria : sequence of str
        Columns with ratings, if each criterion has a separate column.

    Raises
    ------
    GenieError
        "missing-column", or "missing-criterion" if one in `criteria` is missing.

    Examples
    --------
    >>> layout_of("a.csv", ["Model", "item", "rater", "score"]).columns["worker"]
    'rater'
    >>> layout_of("p.csv", ["worker", "page", "sys1", "sys2", "fluency1", "fluency2"]).kind
    'pages'
    """
    by_name = {column.strip().lower(): column for column in header}
    found = {
        field: by_name[next(alias for alias in aliases if alias in by_name)]
        for field, aliases in ALIASES.items()
        if any(alias in by_name for alias in aliases)
    }
    keep = next((by_name[column] for column in KEPT if column in by_name), None)
    pages = _pages(list(header), found, criteria)
    if pages is not None:
        return pages
    if {"system_a", "system_b"} & set(found):
        return _pairs(name, by_name, found, keep)
    found.pop("session", None)
    for column in criteria:
        if column not in header:
            raise GenieError(
                f"{name} has no column {column}; its columns are {', '.join(header)}.",
                code="missing-criterion",
            )
    needed = ("system", "worker") if criteria else ("system", "worker", "value")
    _need(name, found, needed)
    if criteria:
        found = {k: v for k, v in found.items() if k not in ("value", "criterion")}
    return Layout(
        "ratings", found, tuple(criteria), keep=keep, marks=_marks(by_name, found)
    )


def _pairs(
    name: str,
    by_name: Mapping[str, str],
    found: dict[str, str],
    keep: str | None,
) -> Layout:
    if "preferred" not in found and "value" in found:
        found["preferred"] = found["value"]
    _need(name, found, ("system_a", "system_b", "preferred"))
    # a column of workers takes precedence over one of sessions
    dropped = ("system", "value", "page", "day", "session" if "worker" in found else "")
    found = {key: column for key, column in found.items() if key not in dropped}
    return Layout("pairs", found, keep=keep, marks=_marks(by_name, found))


def _marks(by_name: Mapping[str, str], found: Mapping[str, str]) -> tuple[str, ...]:
    columns = (by_name[name] for name in MARKS if name in by_name)
    return tuple(one for one in columns if one not in found.values())


def _need(name: str, found: dict[str, str], fields: Sequence[str]) -> None:
    missing = [field for field in fields if field not in found]
    if not missing:
        return
    names = ", ".join(ALIASES[missing[0]])
    hint = (
        " or name the columns of ratings (--criteria)" if missing[0] == "value" else ""
    )
    raise GenieError(
        f"{name}, line 1, has no column for the {missing[0].replace('_', ' ')}: "
        f"call one of the columns {names}{hint}.",
        code="missing-column",
    )


def _pages(
    header: list[str], found: dict[str, str], criteria: Sequence[str]
) -> Layout | None:
    """Recognize lines of several systems side by side: sys1, sys2, ... with ratings."""
    places = 0
    while f"sys{places + 1}" in header:
        places += 1
    if places < 2 or "worker" not in found:
        return None
    stems = [column[:-1] for column in header if column.endswith("1")]
    rated = [
        stem
        for stem in (criteria or stems)
        if stem not in ("sys", "ref", "dupl_ref")
        and all(f"{stem}{place}" in header for place in range(1, places + 1))
    ]
    kept = {k: v for k, v in found.items() if k in ("worker", "instance", "page")}
    return Layout("pages", kept, tuple(rated), places) if rated else None
