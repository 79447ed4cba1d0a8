"""JSON Lines: one row per line."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import (
    Flaw,
    PredictionFormat,
    Record,
    lines_of,
)
from leaderboard.submissions.readers.problem import Refused
from leaderboard.submissions.readers.rows import record_of
from leaderboard.submissions.readers.walk import Walk


class JsonLines(PredictionFormat):
    """``{"id": "...", "prediction": "..."}``, one a line."""

    slug = "json-lines"
    label = "JSONL: one object with id and prediction per line"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield rows; one broken line does not hide the next."""
        for number, line in enumerate(lines_of(text), start=1):
            if not line.strip():
                continue
            try:
                value = Walk(line, number).whole()
            except Refused as refused:
                yield Flaw(
                    "json-too-deep"
                    if refused.problem.code == "json-too-deep"
                    else "line-not-json",
                    number,
                )
            else:
                yield record_of(value, number)
