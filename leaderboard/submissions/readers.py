"""Files of predictions from submitters: predictions by instance, or all problems."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from genie.lib.formats import as_text, first_unfit, parse_conversation, problem
from leaderboard.files import GZIP, File, Limits, Unreadable, printable, receive, refuse
from leaderboard.files import Problem as FileProblem
from leaderboard.tables import (
    JSON,
    Table,
    by_key,
    first_lines,
    has_rows,
    header_words,
    is_binary,
    json_lines,
    kind_of,
    only_sound,
    read_json,
    read_sound_table,
    rows_within,
)

# Names in files of the field; the first name found in a row counts.
ID_KEYS = ("id", "instance_id", "seg_id", "segment_id", "question_id", "story_id")
TEXT_KEYS = (
    *("prediction", "hyp", "hypothesis", "output", "text", "answer", "summary"),
    *("translation", "conversation", "messages", "turns"),
)
# Marked errors, and the person or tool that marked them.
MARKS_KEY, MARKS_BY_KEY = "error_spans", "error_spans_by"
_LONGEST_NAME = 100
# How many problems of a kind are listed; all of them are counted.
N_LISTED = 20
# A row with its place in words; None: a line without a tab.
Rows = Iterable[tuple[str, object]]

_SENTENCES = {
    "not-rows": "Rows that are not objects, or lines without a tab, with id and prediction: "
    "{named}.",
    "row-without-id": "Rows without an id (a name such as id or seg_id): {named}.",
    "row-without-prediction": "Rows without a prediction (a name such as prediction or "
    "hyp): {named}.",
    "non-text-ids": "Ids that are not text: {named}; write ids in quotes.",
    "unknown-ids": "Ids that are not in this task: {named}.",
    "duplicate-ids": "Ids that occur more than once: {named}; keep one of each.",
    "non-text-predictions": "Predictions that are not text: {named}; write every "
    "prediction as a string.",
    "broken-conversations": "Conversations that cannot be shown: {named}; give a list of "
    "turns, each with role and content.",
    "too-long": "Predictions longer than {limit:,} characters: {named}.",
    "control-character": "Predictions with control characters, characters that reorder "
    "text, or half a character: {named}; remove them.",
    "unusable-marks": "Predictions with marked errors that cannot be read: {named}; give "
    "a list of objects with start, end and severity.",
    "all-empty": "All predictions are empty.",
    "missing-ids": "Instances without a prediction ({count:,} of {n:,}): {named}.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem in a file; all fields are JSON-serializable.

    `code` is a stable, hyphenated name. `message` is one sentence: what, where, and
    what to do. `examples` are the first twenty, each with ``id``, its place (such as
    ``line``) and ``what`` if it has them.
    """

    code: str
    message: str
    count: int = 1
    examples: list[dict[str, Any]] = field(default_factory=list)


class Tally:
    """Counts problems by code; `sentences` have ``{named}`` for those that are listed."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._sentences = sentences
        self._counts: Counter[str] = Counter()
        self._examples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def add(self, code: str, place: str = "", **more: str) -> None:
        self._counts[code] += 1
        if self._counts[code] <= N_LISTED:
            self._examples[code].append(_example(place, **more))

    def problems(self, **values: int) -> list[Problem]:
        """Return one problem per code, in the order of the sentences."""
        found = []
        for code in filter(self._counts.get, self._sentences):
            count, examples = self._counts[code], self._examples[code]
            more = [f"{count - N_LISTED:,} more"] if count > N_LISTED else []
            named = " and ".join([", ".join(map(_in_words, examples)), *more])
            sentence = self._sentences[code].format(named=named, count=count, **values)
            found.append(Problem(code, sentence, count, examples))
        return found


def _example(place: str, **more: str) -> dict[str, Any]:
    unit, _, number = place.partition(" ")
    at = {unit: int(number.replace(",", ""))} if number else {}
    return {name: printable(text) for name, text in more.items() if text} | at


def _in_words(example: dict[str, Any]) -> str:
    places = [f"{k} {n:,}" for k, n in example.items() if k not in ("id", "what")]
    known = [example.get("id"), *places, example.get("what")]
    head, *notes = [one for one in known if one] or [""]
    return f"{head} ({', '.join(notes)})" if notes else str(head)


def problems_of(found: Iterable[FileProblem]) -> list[Problem]:
    """Return one problem per kind that the reader of tables has found."""
    kinds: dict[str, list[FileProblem]] = {}
    for one in found:
        kinds.setdefault(one.code, []).append(one)
    return [
        Problem(
            code,
            str(same[0])
            + (f" Rows with this problem: {len(same):,}." if len(same) > 1 else ""),
            len(same),
            [_example(one.place) for one in same[:N_LISTED] if one.place],
        )
        for code, same in kinds.items()
    ]


@dataclass(frozen=True)
class PredictionFile:
    """The content of a file.

    `predictions` are the unchanged texts by instance id, in the task's order; complete
    only if there are no problems. `problems` has one per kind. `format` is
    ``json-object``, ``json-list``, ``json-lines``, ``tsv``, ``text-lines`` or
    ``table``, with ``+gzip`` if it was packed; empty if unknown. `marks` are errors
    marked in the texts, by instance id, and `marks_by` is the person or tool that
    marked them.
    """

    predictions: dict[str, str] = field(repr=False)
    problems: list[Problem]
    format: str = ""
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
        JSON object, JSON list, JSONL, TSV, one line per instance, or any table; plain
        or packed. Read several times, and not beyond `max_bytes`.
    filename : str
        The submitter's name: a hint at the format, never a path that is opened.
    instance_ids : sequence of str
        The task's, in its order, without duplicates.
    max_bytes : int
        Limit on the file, packed and unpacked.
    conversations : bool, optional
        Whether predictions may be lists of turns; they are stored as readable text.
    """
    matcher = _Matcher(instance_ids, max_chars_per_prediction, conversations)
    kind = ""
    try:
        file = receive(filename, stream, Limits(max_bytes))
        kind, rows = _rows(file, instance_ids)
        with file.stream() as raw:
            kind += "+gzip" if raw.read(2) == GZIP else ""
        for place, row in rows:
            matcher.take(place, row)
    except Unreadable as unreadable:
        return PredictionFile({}, problems_of(unreadable.problems), kind)
    problems = matcher.problems()
    return PredictionFile(
        matcher.predictions(), problems, kind, matcher.marks, matcher.marks_by
    )


# The formats.


def _rows(file: File, ids: Sequence[str]) -> tuple[str, Rows]:
    known = frozenset(ids)
    if is_binary(file):
        return "table", _table_rows(read_sound_table(file), known)
    start = first_lines(file)
    if file.suffix in JSON or _looks_like_json(start):
        return _json_rows(file, known)
    words = header_words(start[0])
    is_header = _find(ID_KEYS, words) and _find(TEXT_KEYS, words)
    simple = len(words) == 2 and "\t" in start[0]
    if file.suffix == ".csv" or (is_header and not simple):
        return "table", _table_rows(read_sound_table(file), known)
    if not _has_tabs(start, known):
        if _begin_with_ids(start, ids):
            return "table", _table_rows(read_sound_table(file), known)
        if file.suffix != ".tsv":
            return "text-lines", _line_rows(file, ids)
    return "tsv", _tab_rows(file, known)


def _looks_like_json(start: list[str]) -> bool:
    first = start[0].strip()
    has_keys = re.search(r'" ?:', "".join(start))
    return first[0] in "{[" and bool(has_keys or not any(map(str.isalnum, first)))


def _json_rows(file: File, known: Set[str]) -> tuple[str, Rows]:
    if lines := json_lines(file):
        return "json-lines", ((f"line {n:,}", row) for n, row in only_sound(lines))
    value = read_json(file)
    kind = "json-list"
    if not isinstance(value, dict):
        rows = rows_within(value, file)
    elif _find(ID_KEYS, value) and _find(TEXT_KEYS, value):
        kind, rows = "json-lines", [value]
    elif known & value.keys() or not any(map(has_rows, value.values())):
        kind, rows = "json-object", by_key(value)
    else:
        rows = rows_within(value, file)
    return kind, ((f"entry {n:,}", row) for n, row in enumerate(rows, 1))


def _has_tabs(start: list[str], known: Set[str]) -> bool:
    lines = [line for line in start if line.strip()]
    keys = [line.partition("\t")[0] for line in lines if "\t" in line]
    # texts may contain tabs; a table has one in most of its lines
    if 2 * len(keys) < len(lines):
        return False
    return any(key in known for key in keys) or len(keys) == len(lines)


def _tab_rows(file: File, known: Set[str]) -> Rows:
    """Yield ids and predictions; everything after the first tab is the prediction."""
    for number, line in enumerate(file.texts(), 1):
        key, tab, text = line.partition("\t")
        names = key.strip().lower() in ID_KEYS and text.strip().lower() in TEXT_KEYS
        is_header = number == 1 and key not in known and names
        if (key or tab) and not is_header:
            row = {"id": key, "prediction": text} if tab else None
            yield f"line {number:,}", row


def _begin_with_ids(start: list[str], ids: Sequence[str]) -> bool:
    starts = [line.lstrip('"') for line in start]
    begun = sum(
        line.startswith(key) and not line[len(key) :][:1].isalnum()
        for key, line in zip(ids, starts, strict=False)
    )
    return len(start) > 1 and 2 * begun > len(start)


def _table_rows(table: Table, known: Set[str]) -> Rows:
    columns = {name.lower(): name for name in table.columns}
    key, text = _find(ID_KEYS, columns), _find(TEXT_KEYS, columns)
    if len(columns) <= 2 and not (key and text):
        key = key or next(iter(columns))
        text = next((name for name in columns if name != key), None)
    for code, name, what in (
        ("row-without-id", key, "ids, such as id or seg_id"),
        ("row-without-prediction", text, "predictions, such as prediction or hyp"),
    ):
        if not name:
            names = ", ".join(map(printable, table.columns))
            message = f"a column with {what}, is missing; the columns are {names}"
            raise refuse(code, message, table.file)
    key, text = columns[str(key)], columns[str(text)]
    if key in known:  # there is no header
        yield f"{table.unit} 1", {"id": key, "prediction": text}
    for row in table.rows:
        yield (
            row.place,
            {**row.cells, "id": row.cells[key], "prediction": row.cells[text]},
        )


def _line_rows(file: File, ids: Sequence[str]) -> Rows:
    lines = list(file.texts())
    if len(lines) != len(ids):
        message = (
            f"there are {len(lines):,} lines, and the task has {len(ids):,} instances; "
            "without ids there must be one line per instance"
        )
        raise refuse("line-count", message, file.name)
    for number, (key, line) in enumerate(zip(ids, lines, strict=True), 1):
        yield f"line {number:,}", {"id": key, "prediction": line}


def _find(names: Sequence[str], inside: Container[str]) -> str | None:
    return next((name for name in names if name in inside), None)


class _Matcher:
    """Collects predictions and problems of rows: every id once, every text storable."""

    def __init__(
        self, ids: Sequence[str], max_characters: int, conversations: bool
    ) -> None:
        self._ids, self._known = ids, frozenset(ids)
        self._max_characters, self._conversations = max_characters, conversations
        self._texts: dict[str, str] = {}
        self.marks: dict[str, list[dict[str, Any]]] = {}
        self.marks_by = ""
        # place of an id's first appearance; also of unknown ones, which may repeat
        self._seen: dict[str, str] = {}
        self._tally = Tally(_SENTENCES)

    def predictions(self) -> dict[str, str]:
        """Return valid predictions by instance id, in the task's order."""
        return {key: self._texts[key] for key in self._ids if key in self._texts}

    def problems(self) -> list[Problem]:
        for key in self._ids:
            if key not in self._seen:
                self._tally.add("missing-ids", id=key)
        texts = self._texts.values()
        if len(texts) == len(self._ids) and not any(map(str.strip, texts)):
            self._tally.add("all-empty")
        return self._tally.problems(limit=self._max_characters, n=len(self._ids))

    def take(self, place: str, row: object) -> None:
        add = self._tally.add
        if not isinstance(row, dict):
            add("not-rows", place, what=kind_of(row) if row is not None else "")
            return
        id_name, text_name = _find(ID_KEYS, row), _find(TEXT_KEYS, row)
        if id_name is None or text_name is None:
            add(f"row-without-{'prediction' if id_name else 'id'}", place)
            return
        key = row[id_name]
        if not isinstance(key, str):
            add("non-text-ids", place, what=kind_of(key))
        elif key in self._seen:
            add("duplicate-ids", place, id=key, what=f"first in {self._seen[key]}")
        else:
            self._seen[key] = place
            if key not in self._known:
                add("unknown-ids", place, id=key)
            elif wrong := self._keep(key, row[text_name]):
                add(wrong[0], place, id=key, what=wrong[1])
            elif MARKS_KEY in row:
                self._mark(key, place, row)

    def _keep(self, key: str, text: object) -> tuple[str, str] | None:
        if self._conversations:
            if isinstance(text, str):
                text = parse_conversation(text) or text
            if isinstance(text, list):
                wrong = problem(text) or ("" if text else "it has no turn")
                if wrong:
                    return "broken-conversations", wrong
                text = as_text(text)
        if not isinstance(text, str):
            return "non-text-predictions", kind_of(text)
        if len(text) > self._max_characters:
            return "too-long", f"{len(text):,}"
        if unfit := first_unfit(text):
            return "control-character", unfit
        self._texts[key] = text
        return None

    def _mark(self, key: str, place: str, row: Mapping[str, Any]) -> None:
        marks = marks_of(row[MARKS_KEY])
        if marks is None:
            self._tally.add("unusable-marks", place, id=key)
        self.marks[key] = marks or []
        self.marks_by = self.marks_by or str(row.get(MARKS_BY_KEY, ""))[:_LONGEST_NAME]


# Marked errors of a row, in the format of our pages or of other tools.

# the end of the second pair is inclusive, as in Pearmut and Appraise
_ENDS = (("start", "end", 0), ("start_i", "end_i", 1))


def marks_of(value: object) -> list[dict[str, Any]] | None:
    """Return a list of marks; None if the value is none.

    Examples
    --------
    >>> marks_of([{"start_i": "0", "end_i": "2", "severity": "minor"}])
    [{'start': 0, 'end': 3, 'severity': 'minor'}]
    >>> marks_of([{"start_i": "missing", "severity": "major"}])
    [{'missing': True, 'severity': 'major'}]
    >>> marks_of("none") is None
    True
    """
    if not isinstance(value, list):
        return None
    marks = [_mark(one) if isinstance(one, dict) else None for one in value]
    return None if None in marks else [mark for mark in marks if mark]


def _mark(one: dict[str, Any]) -> dict[str, Any] | None:
    category = one.get("category") or one.get("error_type")
    if isinstance(category, list):
        category = "/".join(str(level) for level in category)
    more = {"severity": str(one.get("severity", ""))}
    if category and isinstance(category, str):
        more["category"] = category
    if one.get("missing") is True or one.get("start_i") == "missing":
        return {"missing": True, **more}
    for first, last, further in _ENDS:
        ends = [str(one.get(name)) for name in (first, last)]
        if all(end.isdecimal() and len(end) < 9 for end in ends):
            start, end = map(int, ends)
            return {"start": start, "end": end + further, **more}
    return None
