"""A file as a table: named columns, and rows with their place."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

# A text, a list of turns, a list of texts; None: an empty cell.
Cell = object


@dataclass(frozen=True)
class Limits:
    """Limits of a file.

    `n_bytes` applies to the file and to its unpacked content, `n_characters` to one
    cell.
    """

    n_bytes: int = 64 << 20
    n_rows: int = 100_000
    n_columns: int = 200
    n_characters: int = 200_000


@dataclass(frozen=True)
class Row:
    """One row: its filled cells by column, and its place in words."""

    place: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """A file that could be read.

    `file` is the uploaded name; every cell belongs to one of `columns`.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def stem(self) -> str:
        return PurePath(self.file.replace("\\", "/")).stem

    def values(self, column: str) -> list[Cell]:
        """Return the cells of a column that are not empty."""
        found = (row.cells.get(column) for row in self.rows)
        return [cell for cell in found if cell is not None and cell != ""]
