"""Read a submitted file: predictions by instance, or its problems."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO

from genie.lib.formats import as_text, parsed, problem
from leaderboard.submissions.readers.base import Flaw, Record, all_formats, lines_of
from leaderboard.submissions.readers.decode import (
    MESSAGES,
    forbidden,
    raw_controls,
    take_in,
)
from leaderboard.submissions.readers.formats import (
    Walk,
    is_row,
    is_text,
    kind_of,
    marks_of,
    plain,
)
from leaderboard.submissions.readers.problem import Problem, Refused, Tally, shown

# Detect the format of a file by its content, with its name as a hint.
_BY_NAME = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".tsv": "tsv"}
_TABS_LOOKED_AT = 100


def format_of(text: str, filename: str, instance_ids: Sequence[str]) -> str:
    r"""Return the slug of the format to read a file with.

    The text is not blank. A ``.gz`` in the file name is ignored.

    Examples
    --------
    >>> format_of('{"q1": "x"}', "p.json", ["q1"])
    'json-object'
    >>> format_of("q1\tx\n", "p.txt", ["q1"]), format_of("x\n", "p.txt", ["q1"])
    ('tsv', 'text-lines')
    """
    hint = _BY_NAME.get(PurePath(filename.lower().removesuffix(".gz")).suffix, "")
    first = text.lstrip()[0]
    if hint == "tsv":
        return "tsv"
    if hint in {"json", "jsonl"}:
        return _json(text, first, hint)
    lines = lines_of(text)
    if _tabbed(lines, instance_ids):
        return "tsv"
    if first in "{[" and not _could_be_lines(text, lines, instance_ids):
        return _json(text, first, hint)
    return "text-lines"


def _json(text: str, first: str, hint: str) -> str:
    if first == "[":
        return "json-list"
    if first != "{":  # its reader reports the problem
        return "json-lines" if hint == "jsonl" else "json-object"
    # two lines decide: an object over several lines does not end with its first
    filled = list(islice((line for line in lines_of(text) if line.strip()), 2))
    if len(filled) == 1:
        return "json-lines" if hint == "jsonl" or _one_row(text) else "json-object"
    rows = filled[0].rstrip().endswith("}") and filled[1].lstrip().startswith("{")
    return "json-lines" if rows else "json-object"


def _one_row(text: str) -> bool:
    try:
        return is_row(Walk(text).whole())
    except Refused:
        return False


def _tabbed(lines: list[str], instance_ids: Sequence[str]) -> bool:
    lines = [line for line in lines[:_TABS_LOOKED_AT] if line.strip()]
    tabbed = [line.partition("\t")[0] for line in lines if "\t" in line]
    # texts may contain tabs; a table has one in most of its lines
    if 2 * len(tabbed) < len(lines):
        return False
    known = set(instance_ids)
    return any(key in known for key in tabbed) or len(tabbed) == len(lines)


def _could_be_lines(text: str, lines: list[str], instance_ids: Sequence[str]) -> bool:
    if len(lines) != len(instance_ids):
        return False
    if 2 * sum('":' in line or '" :' in line for line in lines) >= len(lines):
        return False
    return not _is_json(lines[0]) and not _is_json(text)


def _is_json(text: str) -> bool:
    try:
        Walk(text).whole()
    except Refused:
        return False
    return True


# Match records to the task's instances: every id once, every text storable.

# Limit on the name of the person or tool that marked errors, in characters.
LONGEST_NAME = 100
# code -> (one of them, several of them, the rest of the sentence)
_MESSAGES = {
    "line-not-json": ("1 line is", "{count} lines are", "not valid JSON: {named}."),
    "json-too-deep": (
        "1 line is",
        "{count} lines are",
        "nested too deeply: {named}; each line must be an object with id and "
        "prediction.",
    ),
    "not-a-row": (
        "1 entry is not an object",
        "{count} entries are not objects",
        "with id and prediction: {named}.",
    ),
    "repeated-key": ("1 row gives", "{count} rows give", "a key twice: {named}."),
    "row-without-id": (
        "1 row has",
        "{count} rows have",
        "no id (a key such as id or seg_id): {named}.",
    ),
    "row-without-prediction": (
        "1 row has",
        "{count} rows have",
        "no prediction (a key such as prediction or hyp): {named}.",
    ),
    "no-tab": (
        "1 line has",
        "{count} lines have",
        "no tab between id and prediction: {named}.",
    ),
    "non-text-ids": (
        "1 id is",
        "{count} ids are",
        "not text: {named}; write ids in quotes.",
    ),
    "unknown-ids": ("1 id is", "{count} ids are", "not in this task: {named}."),
    "duplicate-ids": (
        "1 prediction repeats",
        "{count} predictions repeat",
        "an id that already occurs in the file: {named}; keep one of each.",
    ),
    "non-text-predictions": (
        "1 prediction is",
        "{count} predictions are",
        "not text: {named}; write every prediction as a string.",
    ),
    "broken-conversations": (
        "1 conversation",
        "{count} conversations",
        "cannot be shown: {named}; give a list of turns, each with role and content.",
    ),
    "too-long": (
        "1 prediction is",
        "{count} predictions are",
        "longer than {limit} characters: {named}.",
    ),
    **MESSAGES,
    "unusable-marks": (
        "1 prediction comes",
        "{count} predictions come",
        "with marked errors that cannot be read: {named}; give a list of objects with "
        "start, end and severity.",
    ),
    "missing-ids": (
        "1 of the task's {n} instances has",
        "{count} of the task's {n} instances have",
        "no prediction: {named}.",
    ),
}


class Matcher:
    """Collects predictions and problems of records.

    Parameters
    ----------
    instance_ids : sequence of str
        The task's, without duplicates.
    max_chars : int
        Limit on a prediction, in characters.
    conversations : bool, optional
        Whether a prediction may be a list of turns, which is stored as text.

    Examples
    --------
    >>> matcher = Matcher(["q1", "q2"], 100)
    >>> matcher.take([Record("q1", "yes", 1), Record("q3", "no", 2)])
    >>> [problem.message for problem in matcher.problems()]
    ['1 id is not in this task: q3 (line 2).',
     "1 of the task's 2 instances has no prediction: q2."]
    """

    def __init__(
        self,
        instance_ids: Sequence[str],
        max_chars: int,
        *,
        conversations: bool = False,
    ) -> None:
        self._ids = instance_ids
        self._known = frozenset(instance_ids)
        self._max_chars = max_chars
        self._conversations = conversations
        self._texts: dict[str, str] = {}
        self.marks: dict[str, list[dict[str, Any]]] = {}
        self.marks_by = ""
        # line of an id's first appearance; also of unknown ones, which may repeat
        self._seen: dict[str, int | None] = {}
        self._tallies: defaultdict[str, Tally] = defaultdict(Tally)

    @property
    def predictions(self) -> dict[str, str]:
        """Valid predictions by instance id, in the task's order."""
        return {key: self._texts[key] for key in self._ids if key in self._texts}

    def take(self, records: Iterable[Record | Flaw]) -> None:
        for record in records:
            if isinstance(record, Flaw):
                self._tallies[record.code].add(line=record.line, what=record.what)
            else:
                self._take(record)

    def problems(self) -> list[Problem]:
        """Return one problem per kind, missing ids last."""
        for key in self._ids:
            if key not in self._seen:
                self._tallies["missing-ids"].add(id=shown(key))
        return [
            self._tallies[code].problem(code, self._sentence(code))
            for code in _MESSAGES
            if code in self._tallies
        ]

    def _sentence(self, code: str) -> str:
        singular, plural, ending = _MESSAGES[code]
        count = self._tallies[code].count
        return (
            f"{singular if count == 1 else plural} {ending}".replace(
                "{count}", f"{count:,}"
            )
            .replace("{limit}", f"{self._max_chars:,}")
            .replace("{n}", f"{len(self._ids):,}")
        )

    def _take(self, record: Record) -> None:
        key, line = record.id, record.line
        if not isinstance(key, str) or not is_text(key):
            self._tallies["non-text-ids"].add(line=line, what=kind_of(key))
            return
        # the first one counts, so that a repeated unknown id is reported as repeated,
        # too
        if key in self._seen:
            self._tallies["duplicate-ids"].add(
                id=shown(key), line=line, first_line=self._seen[key]
            )
            return
        self._seen[key] = line
        if key not in self._known:
            self._tallies["unknown-ids"].add(id=shown(key), line=line)
            return
        self._keep(key, record.text, line)
        if record.marks is not None:
            marks = marks_of(record.marks)
            if marks is None:
                self._tallies["unusable-marks"].add(id=shown(key), line=line)
            self.marks[key] = marks or []
            self.marks_by = self.marks_by or str(record.marks_by)[:LONGEST_NAME]

    def _keep(self, key: str, text: object, line: int | None) -> None:
        if self._conversations:
            spoken = plain(text)
            if is_text(spoken):
                spoken = parsed(spoken) or spoken
            if isinstance(spoken, list):
                wrong = problem(spoken) or ("" if spoken else "it has no turn")
                if wrong:
                    self._tallies["broken-conversations"].add(
                        id=shown(key), line=line, what=wrong
                    )
                    return
                text = as_text(spoken)
        if not isinstance(text, str) or not is_text(text):
            self._tallies["non-text-predictions"].add(
                id=shown(key), line=line, what=kind_of(text)
            )
            return
        if len(text) > self._max_chars:
            self._tallies["too-long"].add(
                id=shown(key), line=line, what=f"{len(text):,}"
            )
            return
        finding = forbidden(text)
        if finding is not None:
            self._tallies[finding.code].add(
                id=shown(key), line=line, what=finding.character
            )
            return
        self._texts[key] = text


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
