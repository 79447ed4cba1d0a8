"""Tab-separated: id, tab, prediction."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import (
    Flaw,
    PredictionFormat,
    Record,
    lines_of,
)
from leaderboard.submissions.readers.rows import ID_KEYS, TEXT_KEYS


class Tsv(PredictionFormat):
    """``id<TAB>prediction``, one a line, no quoting; a header line may come first."""

    slug = "tsv"
    label = "TSV: id, tab, prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield records; everything after the first tab is the prediction."""
        for number, line in enumerate(lines_of(text), start=1):
            if not line:
                continue
            key, tab, prediction = line.partition("\t")
            if not tab:
                yield Flaw("no-tab", number)
            elif number > 1 or not _is_header(key, prediction, instance_ids):
                yield Record(key, prediction, number)


def _is_header(key: str, prediction: str, instance_ids: Sequence[str]) -> bool:
    return (
        # a task may have an instance called "id"
        key not in instance_ids
        and key.strip().lower() in ID_KEYS
        and prediction.strip().lower() in TEXT_KEYS
    )
