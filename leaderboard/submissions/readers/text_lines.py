"""One prediction per line, in the task's order."""

from collections.abc import Iterator, Sequence

from leaderboard.submissions.readers.base import (
    Flaw,
    PredictionFormat,
    Record,
    lines_of,
)
from leaderboard.submissions.readers.problem import refuse


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
