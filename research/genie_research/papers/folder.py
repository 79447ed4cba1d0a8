"""A folder of published judgments with a list of the numbers computed from them."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from genie_research.papers.table import Table, Workbench
from leaderboard.files import File, open_file
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.read import read
from leaderboard.papers.figures import Cell, Computed, compare_figures, read_expected

EXPECTED = "expected.json"


class Folder(Table):
    """A folder whose figures are all computed from its judgments."""

    #: Its name in the data folder.
    folder: ClassVar[str]

    @abstractmethod
    def figures(self, folder: Path, bench: Workbench) -> Computed: ...

    def also(self, folder: Path) -> Mapping[str, Mapping[str, float]]:
        """Return the results of other ways to compute a figure, by its id."""
        return {}

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        """Yield the numbers of the list beside ours; without a list, only ours."""
        folder = bench.data / self.folder
        if not folder.is_dir() and bench.data.resolve().name == self.folder:
            folder = bench.data
        if not folder.is_dir():
            yield Cell(self.folder, "", None, None, why=f"There is no {self.folder}/.")
            return
        ours = self.figures(folder, bench)
        file = bench.expected or folder / EXPECTED
        if file.is_file():
            yield from compare_figures(read_expected(file), ours, self.also(folder))
            return
        for id, value in ours.items():
            row, _, column = id.rpartition("/")
            yield Cell(row, column, None, value, digits=None)


def judgments_in(
    folder: Path, names: Sequence[str], layout: str, choices: Mapping[str, Any]
) -> Judgments:
    files = [File(name, partial(open_file, folder / name)) for name in names]
    return read(files, layout=layout, choices=choices)


def file_like(folder: Path, start: str) -> str | None:
    """Return the name of the file that begins so, packed or not."""
    found = sorted(path.name for path in folder.glob(f"{start}*") if path.is_file())
    return found[0] if found else None
