"""What a format of prediction files is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from genie.lib.extension import discover


@dataclass(frozen=True, slots=True)
class Record:
    """One prediction as it stands in the file, not yet looked at."""

    id: object
    text: object
    line: int | None
    # errors that were marked in it before anybody is asked, and by whom
    marks: object = None
    marks_by: object = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A line or entry that is no prediction."""

    code: str
    line: int | None
    what: str | None = None


class PredictionFormat(ABC):
    """One way of writing predictions down; a subclass in a file of its own is found."""

    slug: str
    # what the form and the documentation call it
    label: ClassVar[str]

    @abstractmethod
    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Go through a file.

        Parameters
        ----------
        text : str
            The whole file.
        instance_ids : sequence of str
            The task's, in its order; for formats without ids.

        Raises
        ------
        Refused
            When nothing after this place can be read.
        """


def all_formats() -> dict[str, type[PredictionFormat]]:
    """Find the formats in this folder."""
    return discover("leaderboard.submissions.readers", PredictionFormat)


def lines_of(text: str) -> list[str]:
    r"""Cut a file into lines at line feeds only, so that no text is cut in two.

    Returns
    -------
    list of str
        Without line ends (LF or CR LF); the last line need not have one.

    Examples
    --------
    >>> lines_of("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]
