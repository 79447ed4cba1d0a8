"""A published table, and the inputs of its recomputation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover
from genie.lib.seeds import seed_from
from leaderboard.papers.figures import Cell

if TYPE_CHECKING:
    import pandas as pd

GENIE = "Khashabi et al. (2022), Genie, EMNLP"
RANKME = "Novikova, Dušek and Rieser (2018), RankME, NAACL"
DYNAMIC = "Thorleiksdóttir et al. (2022), Dynamic Human Evaluation, LREC"


def _silence(text: str) -> None: ...


@dataclass(frozen=True)
class Workbench:
    """Data, runs and seed of one call of the command.

    Parameters
    ----------
    data : Path
        Folder with `dynamic/`, `rankme/` and `wmt21-de-en/`; tables leave out missing
        data.
    runs : int or None
        Runs of simulations; None for each table's own number.
    tell : callable
        Receives the progress of a long table, in words.
    expected : Path or None
        List of printed numbers for folders of judgments; None for their own.
    """

    data: Path
    runs: int | None = None
    seed: int = 0
    tell: Callable[[str], None] = field(default=_silence)
    expected: Path | None = None

    def seed_for(self, *parts: object) -> int:
        """Derive the seed of one part, independent of the other parts."""
        # A part's figures do not depend on the other requested tables.
        return seed_from("reproduce", self.seed, *parts) % 2**32

    def read(self, path: str, columns: Sequence[str]) -> pd.DataFrame | None:
        """Read a CSV file of the data folder; None if it is missing.

        Raises
        ------
        GenieError
            If it is not such a file, or lacks one of the columns.
        """
        import pandas as pd

        file = self.data / path
        if not file.is_file():
            return None
        try:
            frame = pd.read_csv(file)
        except (ValueError, UnicodeDecodeError) as error:
            raise GenieError(
                f"{path} is not a CSV file: {error}", code="not-csv"
            ) from error
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            raise GenieError(
                f"{path} lacks the column {missing[0]}.", code="missing-column"
            )
        if frame.empty:
            raise GenieError(f"{path} has no rows.", code="empty-file")
        return frame


class Table(ABC):
    """A published table."""

    #: Name on the command line.
    slug: str
    #: Heading.
    title: ClassVar[str]
    #: Its place in print.
    paper: ClassVar[str]

    @abstractmethod
    def cells(self, bench: Workbench) -> Iterator[Cell]: ...


def all_tables() -> dict[str, type[Table]]:
    """Return all tables, by slug: of the three papers, then of folders."""
    return (
        discover("genie_research.papers.dynamic", Table)
        | discover("genie_research.papers.genie", Table)
        | discover("genie_research.papers.rankme", Table)
        | discover("genie_research.papers.folders", Table)
    )


def one_of_many(sd: float, runs: float) -> float:
    """Return three standard errors of a mean over `runs` runs."""
    # three, because there are dozens of cells: with two, some would fail by chance
    return float(3 * sd / runs**0.5)
