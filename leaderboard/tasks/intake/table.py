"""A file as a table: named columns, rows with the place where each one stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

# A text, a list of turns, a list of texts; None: nothing stands there.
Cell = object


@dataclass(frozen=True)
class Limits:
    """What a file may hold at most.

    Parameters
    ----------
    n_bytes : int
        Of the file, and of what it unpacks to.
    n_characters : int
        Of one cell.
    """

    n_bytes: int = 64 << 20
    n_rows: int = 100_000
    n_columns: int = 200
    n_characters: int = 200_000


@dataclass(frozen=True)
class Row:
    """One row: the cells that are there, by column, and its place in words."""

    place: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """A file that could be read.

    Parameters
    ----------
    file : str
        As its owner called it.
    columns : tuple of str
        In their order; every cell belongs to one of them.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def stem(self) -> str:
        """Give the file's name without its ending.

        Examples
        --------
        >>> Table("out/System-A.jsonl", (), ()).stem
        'System-A'
        """
        return PurePath(self.file.replace("\\", "/")).stem

    def values(self, column: str) -> list[Cell]:
        """Give what stands in a column, without what is empty."""
        found = (row.cells.get(column) for row in self.rows)
        return [cell for cell in found if cell is not None and cell != ""]
