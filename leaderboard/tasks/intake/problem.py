"""What is wrong with somebody's file: a sentence with file, row and column."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Of each kind so many are listed; the others are counted.
N_LISTED = 5
_LONGEST = 60
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True)
class FileProblem:
    """One thing wrong with a file.

    Parameters
    ----------
    code : str
        Stable, hyphenated name of the kind.
    message : str
        One sentence without its end: what is wrong, and what to do.
    file : str
        As its owner called it.
    place : str
        Row, line or cell in words; empty where it is about the whole file.
    column : str
        Its name; empty where it is about no column.
    """

    code: str
    message: str
    file: str = ""
    place: str = ""
    column: str = ""

    def __str__(self) -> str:
        """Give the sentence that people read.

        Examples
        --------
        >>> str(FileProblem("missing-cell", "the cell is empty", "a.csv", "row 3", "m"))
        'a.csv, row 3, column “m”: the cell is empty.'
        """
        column = f"column “{shown(self.column)}”" if self.column else ""
        where = ", ".join(filter(None, (shown(self.file), self.place, column)))
        return f"{where}: {self.message}." if where else f"{self.message}."


class Unreadable(Exception):
    """Ends the reading of a file that cannot be read further."""

    def __init__(self, *problems: FileProblem) -> None:
        super().__init__(" ".join(map(str, problems)))
        self.problems = problems


@dataclass
class Findings:
    """Collects problems; of one kind in one column, the first few are listed."""

    found: list[FileProblem] = field(default_factory=list)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, problem: FileProblem) -> None:
        key = (problem.code, problem.file, problem.column)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] <= N_LISTED:
            self.found.append(problem)

    def all(self) -> list[FileProblem]:
        """List them; what was only counted is said at the end."""
        return [*self.found, *self._uncounted()]

    def _uncounted(self) -> Iterator[FileProblem]:
        for (code, file, column), n in self._counts.items():
            if n > N_LISTED:
                more = n - N_LISTED
                yield FileProblem(
                    code,
                    f"{more:,} more {'row has' if more == 1 else 'rows have'} this "
                    f"problem ({code})",
                    file,
                    column=column,
                )


def shown(text: str) -> str:
    r"""Make a text from somebody's file safe to print on one line.

    Returns
    -------
    str
        At most 60 characters; those that cannot be shown as ``\u202e``.

    Examples
    --------
    >>> shown("a\u202eb\x00")
    'a\\u202eb\\u0000'
    """
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", cut)
