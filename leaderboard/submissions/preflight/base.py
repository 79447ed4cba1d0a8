"""A pre-flight check reads texts and returns at most one warning.

A warning never blocks: staff read it beside the price. Most checks compare predictions
with people's references for the same instances, so that a task with short, repeated or
copied references does not warn about every system.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genie.lib.extension import discover

# How many positions a warning lists.
N_NAMED = 20


@dataclass(frozen=True)
class PreflightWarning:
    """A reason to check a submission before money is spent; it does not block.

    `code` is the slug of the check. `figures` are the evidence, JSON-serializable:
    ``positions`` are the first twenty places in the task's order, from 0.
    """

    code: str
    sentence: str
    figures: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts that checks read, aligned by instance.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)
        May be empty lists if a task has no references.
    sources : list of str, shape (n,)
        Empty texts if there is no source.
    target_language, source_language : str
        ISO 639-1.
    earlier : sequence of (name, list of str)
        Predictions of other submissions, each of shape (n,).
    seed : int
        For checks of a sample.
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
    """One pre-flight check; every subclass in a module of this package is found."""

    # the warnings' code
    slug: str

    @abstractmethod
    def look(self, texts: Texts) -> PreflightWarning | None:
        """Return a warning or None; there is at least one prediction."""


def all_checks() -> dict[str, type[Check]]:
    """Return the checks of this package by slug."""
    return discover("leaderboard.submissions.preflight", Check)


def plain(text: str) -> str:
    """Return a text in lower case, with single spaces and without a final full stop.

    Texts that differ only in these count as the same.

    Examples
    --------
    >>> plain("  It  Rains. ")
    'it rains'
    """
    return " ".join(text.casefold().split()).rstrip(" .")


def percent(share: float) -> str:
    """Return a share as a percentage for a sentence.

    Examples
    --------
    >>> percent(0.0312), percent(0.5)
    ('3.1%', '50%')
    """
    value = 100 * share
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{value:.1f}%"


# All checks on one submission.
def preflight(
    predictions: list[str],
    references: list[list[str]],
    sources: list[str],
    *,
    target_language: str,
    source_language: str,
    earlier: Sequence[tuple[str, list[str]]] = (),
    seed: int,
) -> list[PreflightWarning]:
    """Check a submission for mistakes that would waste people's work.

    Parameters
    ----------
    predictions : list of str, shape (n,)
        In the task's order.
    references : list of list of str, shape (n, variable)
        May be empty lists.
    sources : list of str, shape (n,) or (0,)
        Input texts; may be empty.
    earlier : sequence of (name, list of str), optional
        Predictions of other submissions.
    seed : int
        Of the samples drawn above 2,000 instances.

    Returns
    -------
    list of PreflightWarning
        At most one per check, in the order of their codes, ``misaligned-ids`` first.
    """
    n = len(predictions)
    sources = sources or [""] * n
    if n == 0:
        return []
    texts = Texts(
        predictions,
        references,
        sources,
        target_language,
        source_language,
        earlier,
        seed,
    )
    results = [check().look(texts) for check in all_checks().values()]
    warnings = [warning for warning in results if warning is not None]
    # sorting is stable: the others keep the order of their codes
    return sorted(warnings, key=lambda warning: warning.code != "misaligned-ids")
