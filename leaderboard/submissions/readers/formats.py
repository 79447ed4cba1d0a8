"""The formats of prediction files, one class each."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import (
    Flaw,
    PredictionFormat,
    Record,
    lines_of,
)
from leaderboard.submissions.readers.problem import Refused, refuse
from leaderboard.submissions.readers.rows import ID_KEYS, TEXT_KEYS, record_of
from leaderboard.submissions.readers.walk import Walk


class JsonList(PredictionFormat):
    """``[{"id": "...", "prediction": "..."}, ...]``."""

    slug = "json-list"
    label = "JSON list of objects with id and prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for value, line in Walk(text).items():
            yield record_of(value, line)


# A JSON object from instance id to prediction: Genie's oldest format.
class JsonObject(PredictionFormat):
    """``{"id": "prediction", ...}``."""

    slug = "json-object"
    label = "JSON object from id to prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for key, value, line in Walk(text).entries():
            yield Record(key, value, line)


# JSON Lines: one row per line.
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


# Tab-separated: id, tab, prediction.
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


# One prediction per line, in the task's order.
class TextLines(PredictionFormat):
    """Line 1 is the prediction for the first instance; an empty line is an empty one."""

    slug = "text-lines"
    label = "plain text: one prediction per line, in the task's order"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield lines in pairs with instances; their numbers must be equal."""
        lines = lines_of(text)
        if len(lines) != len(instance_ids):
            raise refuse(
                "line-count",
                f"The file has {len(lines):,} lines and the task "
                f"{len(instance_ids):,} instances; without ids there must be one "
                "line per instance.",
                lines=len(lines),
                instances=len(instance_ids),
            )
        _refuse_ids(lines, instance_ids)
        for number, (key, line) in enumerate(
            zip(instance_ids, lines, strict=True), start=1
        ):
            yield Record(key, line, number)


def _refuse_ids(lines: Sequence[str], instance_ids: Sequence[str]) -> None:
    """Refuse tables with a different separator: their ids would become predictions."""
    begun = sum(
        line.lstrip('"').startswith(key)
        and not line.lstrip('"')[len(key) :][:1].isalnum()
        for key, line in zip(instance_ids, lines, strict=True)
    )
    # half of the lines: a few texts may begin with their id by chance
    if len(lines) > 1 and 2 * begun > len(lines):
        raise refuse(
            "ids-in-lines",
            f"{begun:,} of {len(lines):,} lines begin with an instance id but "
            "have no tab after it; separate id and prediction with a tab.",
            lines=begun,
        )
