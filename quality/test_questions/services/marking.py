"""Which answer to a test question is right.

A placement's `expected` adds to its polarity; see
`crowd.workers.services.known_answers` for its keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.scales.find import all_scales
from crowd.workers.services.known_answers import guesses_of, marks_of
from quality.test_questions.models import Polarity

# Probabilities of being right without reading, see `known_answers.guesses_of`.
Guesses = tuple[float, ...]


@dataclass(frozen=True)
class Marked:
    criterion: str
    slot: str
    value: float


def marks(
    answers: Sequence[Marked],
    *,
    polarity: str,
    expected: Mapping[str, Any],
    threshold: float,
) -> dict[str, bool]:
    """Return, by criterion, whether a worker's answers to a question are right."""
    return marks_of(
        answers, expected, good=polarity == Polarity.POSITIVE, threshold=threshold
    )


def guesses(
    expected: Mapping[str, Any], polarity: str, scale: str, slots: Sequence[str]
) -> Guesses:
    """Compute the probability of a right answer given without reading."""
    good = polarity == Polarity.POSITIVE
    return guesses_of(expected, good=good, scale=all_scales()[scale], slots=slots)
