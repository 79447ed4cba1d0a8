"""A JSON list of rows."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import Flaw, PredictionFormat, Record
from leaderboard.submissions.readers.rows import record_of
from leaderboard.submissions.readers.walk import Walk


class JsonList(PredictionFormat):
    """``[{"id": "...", "prediction": "..."}, ...]``."""

    slug = "json-list"
    label = "JSON list of objects with id and prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for value, line in Walk(text).items():
            yield record_of(value, line)
