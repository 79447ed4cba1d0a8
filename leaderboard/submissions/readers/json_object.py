"""A JSON object from instance id to prediction: Genie's oldest format."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import Flaw, PredictionFormat, Record
from leaderboard.submissions.readers.walk import Walk


class JsonObject(PredictionFormat):
    """``{"id": "prediction", ...}``."""

    slug = "json-object"
    label = "JSON object from id to prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for key, value, line in Walk(text).entries():
            yield Record(key, value, line)
