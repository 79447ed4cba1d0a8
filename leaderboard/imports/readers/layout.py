"""The interface of layouts: files of ratings as one tool writes them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover
from leaderboard.files import File
from leaderboard.imports.readers.judgments import Judgments


@dataclass(frozen=True)
class Choice:
    """A question about a file that a person can, or must, answer.

    `name` is its key in `choices`. `options` are the answers; empty: any text. `found`
    is the likely answer from the file, and `needed` whether the file cannot be read
    without one.
    """

    name: str
    question: str
    options: tuple[str, ...] = ()
    found: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Look:
    """A layout's estimate of whether files have it, before they are read.

    `surety` goes from 0 (a different layout) to 1 (no other layout possible); `choices`
    are questions for a person.
    """

    surety: float
    choices: tuple[Choice, ...] = field(default=())


NOT_MINE = Look(0.0)


class Layout(ABC):
    """One layout of rating files."""

    slug: str
    title: ClassVar[str]

    @classmethod
    @abstractmethod
    def look(cls, sources: Sequence[File]) -> Look:
        """Return how surely files have this layout, from their names and beginnings."""

    @classmethod
    @abstractmethod
    def read(cls, sources: Sequence[File], choices: Mapping[str, Any]) -> Judgments:
        """Read the files, with every problem by its row.

        Raises
        ------
        GenieError
            If no row can be read; a wrong row is a `Problem`.
        """


def all_layouts() -> dict[str, type[Layout]]:
    return discover("leaderboard.imports.readers.layouts", Layout)


def pick(choices: Mapping[str, Any], name: str, options: Sequence[str]) -> str:
    """Return the chosen option, else the only one.

    Raises "choice-needed" if one must be made, "unknown-choice" if it is no option.
    """
    usual = options[0] if len(options) == 1 else ""
    picked = str(choices.get(name) or usual)
    if not picked:
        raise GenieError(
            f"Choose {name}: one of {', '.join(options)}.", code="choice-needed"
        )
    if picked not in options:
        raise GenieError(
            f"There is no {name} {picked!r}; there are {', '.join(options) or 'none'}.",
            code="unknown-choice",
        )
    return picked


def one_of(name: str, question: str, options: Sequence[str]) -> Choice:
    """Create a question with options, which must be answered if there are several."""
    several = len(options) > 1
    found = "" if several else "".join(options)
    return Choice(name, question, tuple(options), found=found, needed=several)
