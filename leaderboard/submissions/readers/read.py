"""Read a submitted file: predictions by instance, or its problems."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from leaderboard.submissions.readers.base import all_formats
from leaderboard.submissions.readers.characters import raw_controls
from leaderboard.submissions.readers.decode import take_in
from leaderboard.submissions.readers.detect import format_of
from leaderboard.submissions.readers.matching import Matcher
from leaderboard.submissions.readers.problem import Problem, Refused, Tally


@dataclass(frozen=True)
class PredictionFile:
    """The content of a file.

    `predictions` are the unchanged texts by instance id, in the task's order; complete
    only if there are no problems. `problems` has one per kind. `format` is the slug of
    the format, with ``+gzip`` if it was packed; empty if unknown. `n_lines` and
    `n_bytes` (unpacked) are 0 if the file could not be decoded. `marks` are errors
    marked in the texts, by instance id, and `marks_by` is the person or tool that
    marked them.
    """

    predictions: dict[str, str] = field(repr=False)
    problems: list[Problem]
    format: str = ""
    n_lines: int = 0
    n_bytes: int = 0
    marks: dict[str, list[dict[str, Any]]] = field(default_factory=dict, repr=False)
    marks_by: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems


def read_predictions(
    stream: BinaryIO,
    *,
    filename: str,
    instance_ids: Sequence[str],
    max_bytes: int,
    max_chars_per_prediction: int,
    conversations: bool = False,
) -> PredictionFile:
    """Read a file of predictions; problems are returned, never raised.

    Parameters
    ----------
    stream : binary file
        JSON object, JSON list, JSONL, TSV or one line per instance; plain or gzip. Read
        in pieces and not beyond `max_bytes`.
    filename : str
        The submitter's name: a hint at the format, never a path that is opened.
    instance_ids : sequence of str
        The task's, in its order, without duplicates.
    max_bytes : int
        Limit on the file, packed and unpacked.
    conversations : bool, optional
        Whether predictions may be lists of turns; they are stored as readable text.

    Examples
    --------
    >>> import io
    >>> read = read_predictions(
    ...     io.BytesIO(b'{"q1": "Iron."}'), filename="p.json", instance_ids=["q1"],
    ...     max_bytes=1000, max_chars_per_prediction=100)
    >>> read.predictions, read.problems, read.format
    ({'q1': 'Iron.'}, [], 'json-object')
    """
    try:
        intake = take_in(stream, max_bytes)
    except Refused as refused:
        return PredictionFile({}, [refused.problem])
    text = intake.text
    slug = format_of(text, filename, instance_ids)
    matcher = Matcher(
        instance_ids, max_chars_per_prediction, conversations=conversations
    )
    try:
        if slug.startswith("json"):
            _refuse_raw_controls(text)
        matcher.take(all_formats()[slug]().read(text, instance_ids))
    except Refused as refused:
        predictions, problems = {}, [refused.problem]
    else:
        predictions, problems = matcher.predictions, matcher.problems()
    return PredictionFile(
        predictions,
        problems,
        slug + ("+gzip" if intake.gzipped else ""),
        text.removesuffix("\n").count("\n") + 1,
        intake.n_bytes,
        matcher.marks,
        matcher.marks_by,
    )


def _refuse_raw_controls(text: str) -> None:
    tally = Tally()
    for line, character in raw_controls(text):
        tally.add(line=line, what=character)
    if tally.count:
        raise Refused(
            tally.problem(
                "control-character",
                f"The file contains control characters ({tally.count:,}): "
                f"{{named}}; remove them.",
            )
        )
