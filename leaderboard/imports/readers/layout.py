"""What a layout is: how a tool of the field writes judgments down."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from genie.lib.extension import discover
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.sources import Source


@dataclass(frozen=True)
class Choice:
    """Something that a person can, or must, say of a file.

    Parameters
    ----------
    name : str
        Key in `choices`.
    question : str
        What is asked, in words.
    options : tuple of str
        What can be answered; empty: any text.
    found : str
        What the file itself seems to say; "" nothing.
    needed : bool
        Whether nothing can be read before it is answered.
    """

    name: str
    question: str
    options: tuple[str, ...] = ()
    found: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Look:
    """What a layout sees of files before it reads them.

    Parameters
    ----------
    surety : float
        From 0 (not its own) to 1 (nothing else it can be).
    because : str
        What it recognises, in a few words.
    choices : tuple of Choice
        What can be corrected.
    """

    surety: float
    because: str = ""
    choices: tuple[Choice, ...] = field(default=())


NOT_MINE = Look(0.0)


class Layout(ABC):
    """One way to write judgments down.

    Parameters
    ----------
    slug : str
        Name on the command line.
    title : str
        What people call it.
    files : str
        Which files it is made of, in a sentence.
    tried_on : str
        On what the reader was tried: files of others, or examples of our own.
    """

    slug: str
    title: ClassVar[str]
    files: ClassVar[str]
    tried_on: ClassVar[str] = "examples of our own"

    @classmethod
    @abstractmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        """Say how surely these files are of this layout, from their names and beginnings."""

    @classmethod
    @abstractmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        """Read them whole, with every problem by its row.

        Raises
        ------
        GenieError
            Where nothing can be read; what is wrong with single rows is a `Problem`.
        """


def all_layouts() -> dict[str, type[Layout]]:
    """Give every layout by its slug."""
    return discover("leaderboard.imports.readers.layouts", Layout)
