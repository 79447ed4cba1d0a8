"""Which answer to a test question is right.

A placement's `expected` says what its polarity does not; see
`crowd.workers.services.known_answers` for its keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.workers.services.known_answers import marks_of
from quality.test_questions.models import Polarity


@dataclass(frozen=True)
class Marked:
    """One answer to a test question."""

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
    """Tell on which criteria one worker's answers to one test question are right."""
    return marks_of(
        answers, expected, good=polarity == Polarity.POSITIVE, threshold=threshold
    )
