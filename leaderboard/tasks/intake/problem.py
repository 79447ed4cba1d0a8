"""Problems of a file: a sentence with file, row and column."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# So many of each kind are listed; the others are counted.
N_LISTED = 5
_LONGEST = 60
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True)
class FileProblem:
    """One problem of a file.

    `code` is the stable, hyphenated name of the kind of problem. `message` is a
    sentence without its full stop: the problem and what to do. `place` is the row, line
    or cell in words, empty for the whole file; `column` is empty if the problem
    concerns none.
    """

    code: str
    message: str
    file: str = ""
    place: str = ""
    column: str = ""

    def __str__(self) -> str:
        column = f"column “{shown(self.column)}”" if self.column else ""
        where = ", ".join(filter(None, (shown(self.file), self.place, column)))
        return f"{where}: {self.message}." if where else f"{self.message}."


class Unreadable(Exception):
    """Stops the reading of a file that cannot be read further."""

    def __init__(self, *problems: FileProblem) -> None:
        super().__init__(" ".join(map(str, problems)))
        self.problems = problems


@dataclass
class Findings:
    """Collects problems; of one kind in one column, only the first few are listed."""

    found: list[FileProblem] = field(default_factory=list)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, problem: FileProblem) -> None:
        key = (problem.code, problem.file, problem.column)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] <= N_LISTED:
            self.found.append(problem)

    def all(self) -> list[FileProblem]:
        """Return the problems, with those that were only counted at the end."""
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
    r"""Return a text from a stranger's file, safe to print on one line.

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
