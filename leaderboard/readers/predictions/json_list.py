"""A JSON list of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard.readers.predictions.base import Flaw, PredictionFormat, Record
from leaderboard.readers.predictions.json_walk import Walk
from leaderboard.readers.predictions.rows import record_of


class JsonList(PredictionFormat):
    """``[{"id": "...", "prediction": "..."}, ...]``."""

    slug = "json-list"
    label = "JSON list of objects with id and prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Go through the list's items."""
        for value, line in Walk(text).items():
            yield record_of(value, line)
