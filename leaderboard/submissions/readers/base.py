"""The interface of formats of prediction files."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from genie.lib.extension import discover


@dataclass(frozen=True, slots=True)
class Record:
    """One prediction as in the file, not checked yet."""

    id: object
    text: object
    line: int | None
    # errors that the file has marked, and who marked them
    marks: object = None
    marks_by: object = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    code: str
    line: int | None
    what: str | None = None


class PredictionFormat(ABC):
    """One format of predictions; subclasses in modules of this package are found."""

    slug: str
    # its name in the form and the documentation
    label: ClassVar[str]

    @abstractmethod
    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield the records and flaws of a whole file.

        `instance_ids` are the task's in its order, for formats without ids. `Refused`
        is raised if the rest of the file cannot be read.
        """


def all_formats() -> dict[str, type[PredictionFormat]]:
    """Return the formats of this package by slug."""
    return discover("leaderboard.submissions.readers", PredictionFormat)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a file, cut at line feeds only, without LF or CR LF.

    Texts may contain other line separators. The last line need not have an end.

    Examples
    --------
    >>> lines_of("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]
