"""Match records to the task's instances: every id once, every text storable."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from genie.lib.formats import as_text, parsed, problem
from leaderboard.submissions.readers.base import Flaw, Record
from leaderboard.submissions.readers.characters import MESSAGES, forbidden
from leaderboard.submissions.readers.marks import marks_of
from leaderboard.submissions.readers.problem import Problem, Tally, shown
from leaderboard.submissions.readers.walk import is_text, kind_of, plain

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
