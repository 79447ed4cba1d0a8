"""Tables in Parquet, read in batches into columns of codes and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.stats.intervals import Floats
from leaderboard.table_stats.layouts import Layout

if TYPE_CHECKING:
    import pandas as pd

# Batches of 2,048 rows in memory at a time.
_BATCHES = 50


def header_of(path: Path) -> list[str]:
    with _readable(path) as connection:
        found: list[str] = connection.read_parquet(str(path)).columns
    return found


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """Open the engine, and turn its errors about the file into one sentence."""
    with engine() as connection:
        import duckdb

        try:
            yield connection
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise GenieError(f"{path.name}: {first}", code="not-a-table") from error


def read_columns(
    path: Path, words: Sequence[str], numbers: Sequence[str]
) -> pd.DataFrame:
    """Read columns: words as categories, empty ones missing; numbers as floats."""
    chosen = [
        *(f"nullif({_quoted(name)}::varchar, '')" for name in words),
        *(f"{_quoted(name)}::double" for name in numbers),
    ]
    with _readable(path) as connection:
        rows = connection.execute(
            f"select {', '.join(chosen)} from read_parquet($1)",  # noqa: S608
            [str(path)],
        )
        return put_together(_batches(rows), words, numbers)


def _batches(rows: Any) -> Iterator[pd.DataFrame]:
    while len(some := rows.fetch_df_chunk(_BATCHES)):
        yield some


def put_together(
    batches: Iterable[pd.DataFrame], words: Sequence[str], numbers: Sequence[str]
) -> pd.DataFrame:
    """Combine batches of a table: words as categories first, then numbers as floats.

    Batches are not kept, because words need most of the memory.
    """
    import pandas as pd

    named = [_Names() for _ in words]
    floats: list[list[Floats]] = [[] for _ in numbers]
    for some in batches:
        for place, names in enumerate(named):
            names.add(some.iloc[:, place])
        for place, part in enumerate(floats, start=len(words)):
            part.append(some.iloc[:, place].to_numpy(np.float64, copy=True))
    columns: dict[str, Any] = {
        name: own.categories() for name, own in zip(words, named, strict=True)
    }
    for name, part in zip(numbers, floats, strict=True):
        columns[name] = np.concatenate([np.empty(0), *part])
        part.clear()
    return pd.DataFrame(columns, copy=False)


class _Names:
    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._codes: list[npt.NDArray[np.int32]] = []

    def add(self, column: pd.Series[Any]) -> None:
        import pandas as pd

        codes, found = pd.factorize(column.to_numpy(object))
        known = self._code_of
        # the last place is that of -1, the code of missing words
        places = [*(known.setdefault(str(name), len(known)) for name in found), -1]
        self._codes.append(np.array(places, dtype=np.int32)[codes])

    def categories(self) -> pd.Categorical:
        import pandas as pd

        codes = np.concatenate([np.empty(0, dtype=np.int32), *self._codes])
        known = pd.CategoricalDtype(list(self._code_of))
        found: pd.Categorical = pd.Categorical.from_codes(codes, dtype=known)
        return found


def complain_of(path: Path, layout: Layout, frame: pd.DataFrame) -> None:
    """Check for missing names and numbers.

    Raises
    ------
    GenieError
        ``bad-cell``, with the first row and column with an error.
    """
    for column in (*layout.names, *layout.numbers):
        missing = frame[column].isna().to_numpy()
        if column in layout.numbers:
            missing = ~np.isfinite(frame[column].to_numpy())
        if missing.any():
            row = int(frame.index[int(np.argmax(missing))]) + 1
            what = "it is not a number" if column in layout.numbers else "it is empty"
            raise GenieError(
                f"{path.name}, row {row}, column {column}: {what}.", code="bad-cell"
            )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
