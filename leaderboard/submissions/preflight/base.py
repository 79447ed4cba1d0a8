"""What a pre-flight check is: it looks at texts and says at most one sentence.

A warning never blocks: staff read it beside the price. Most checks therefore compare
predictions with what people wrote for the same instances, so that a task where
references are short, repeated or copied does not warn about every system.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genie.lib.extension import discover

# How many positions a warning names.
N_NAMED = 20


@dataclass(frozen=True)
class PreflightWarning:
    """Something to look at before money is spent; it does not block.

    Parameters
    ----------
    code : str
        Stable, hyphenated name; the slug of the check.
    sentence : str
        For the submitter and for staff.
    figures : dict
        What the sentence rests on, JSON-serialisable. ``positions`` are places in the
        task's order, from 0, the first twenty.
    """

    code: str
    sentence: str
    figures: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Texts:
    """What the checks look at, aligned by instance.

    Parameters
    ----------
    references : list of list of str, shape (n, variable)
        May be empty lists where a task has no references.
    sources : list of str, shape (n,)
        Empty texts where there is nothing to copy from.
    target_language, source_language : str
        ISO 639-1.
    earlier : sequence of (name, list of str)
        Other submissions' predictions, each of shape (n,).
    seed : int
        For checks that look at a sample.
    """

    predictions: list[str]
    references: list[list[str]]
    sources: list[str]
    target_language: str
    source_language: str
    earlier: Sequence[tuple[str, list[str]]]
    seed: int

    def __len__(self) -> int:
        return len(self.predictions)


class Check(ABC):
    """One pre-flight check; a subclass in a file of its own is found, not listed."""

    # the warnings' code
    slug: str

    @abstractmethod
    def look(self, texts: Texts) -> PreflightWarning | None:
        """Look at a submission.

        Parameters
        ----------
        texts : Texts
            With at least one prediction.
        """


def all_checks() -> dict[str, type[Check]]:
    """Find the checks in this folder."""
    return discover("leaderboard.submissions.preflight", Check)


def plain(text: str) -> str:
    """Reduce a text to what counts when asking whether two are the same.

    Returns
    -------
    str
        Case folded, white space squeezed, without a final full stop.

    Examples
    --------
    >>> plain("  It  Rains. ")
    'it rains'
    """
    return " ".join(text.casefold().split()).rstrip(" .")


def percent(share: float) -> str:
    """Write a share for a sentence.

    Examples
    --------
    >>> percent(0.0312), percent(0.5)
    ('3.1 %', '50 %')
    """
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.1f} %"
