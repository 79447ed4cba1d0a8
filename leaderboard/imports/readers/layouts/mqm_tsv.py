"""Google's MQM tables: one row per error, with the span marked within the text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    Span,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Layout, Look
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import mqm_score

_NEEDED = ("system", "seg_id", "rater", "category", "severity")
_OPEN, _CLOSE = "<v>", "</v>"
_NOTHING = ("no-error", "no error")
# Errors that were inserted on purpose, as a test.
_PLANTED = "hotw"


@dataclass
class _Error:
    row: int
    cells: Mapping[str, str]
    file: int

    def __getitem__(self, name: str) -> str:
        return self.cells.get(name, "")

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self["rater"], self["system"], self["doc"], self["seg_id"])

    @property
    def nothing(self) -> bool:
        said = (self["category"].lower(), self["severity"].lower())
        return any(word in _NOTHING for word in said)

    @property
    def planted(self) -> bool:
        return self["severity"].lower().startswith(_PLANTED)


class MQMTable(Layout):
    """Errors by several raters; a text's score is the cost of its errors."""

    slug = "mqm-tsv"
    title = "MQM table (Google)"
    files = (
        "A .tsv with the columns system, doc, doc_id, seg_id, rater, source, target,"
        " category and severity, a row an error"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if _is_table(source)]
        if not files:
            return NOT_MINE
        return Look(0.95, "a row an error: seg_id, rater, category, severity")

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        made = Judgments(cls.slug, from_rows([]))
        errors: list[_Error] = []
        for number, source in enumerate(sources):
            if _is_table(source):
                errors += _errors(source, number, made.problems)
        if not errors:
            raise GenieError(
                f"No table has the columns {', '.join(_NEEDED)}.", code="no-errors"
            )
        said: dict[tuple[str, ...], list[_Error]] = defaultdict(list)
        for error in errors:
            said[error.key].append(error)
        people = pseudonyms(error["rater"] for error in errors)
        numbered = _by_number(errors)
        rows = []
        for found in said.values():
            instance = _instance(found[0], numbered)
            name = sources[found[0].file].name
            spans = _spans(found, name, made.problems)
            _keep(found[0], instance, made)
            rows.append(_row(found, instance, people, spans))
        made.rows = from_rows(rows)
        return made


def _is_table(source: Source) -> bool:
    header = (source.lines(1) or [""])[0].split("\t")
    return set(_NEEDED) <= {name.strip() for name in header}


def _errors(source: Source, file: int, problems: list[Problem]) -> list[_Error]:
    """Read the rows; quotation marks are ordinary characters here."""
    lines = source.lines()
    names = [name.strip() for name in lines[0].split("\t")]
    found = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < len(names) and cells[-1:] != [""]:
            cells += [""] * (len(names) - len(cells))
        error = _Error(number, dict(zip(names, cells, strict=False)), file)
        missing = [name for name in _NEEDED if not error[name].strip()]
        if "category" in missing and error["severity"].strip():
            missing.remove("category")
        if missing:
            what = "It is empty or the row is cut short: put it right or take it out."
            problems.append(Problem(source.name, number, missing[0], what))
            continue
        found.append(error)
    return found


def _by_number(errors: Sequence[_Error]) -> bool:
    """Check whether seg_id counts through the whole test set, not within a document."""
    of: dict[str, set[str]] = defaultdict(set)
    for error in errors:
        of[error["seg_id"]].add(error["doc"])
    return all(len(documents) == 1 for documents in of.values())


def _instance(error: _Error, numbered: bool) -> str:
    return error["seg_id"] if numbered else f"{error['doc']}:{error['seg_id']}"


def _spans(
    errors: Sequence[_Error], name: str, problems: list[Problem]
) -> list[tuple[Span, bool]]:
    marked = [error for error in errors if not error.nothing]
    if marked and len(marked) < len(errors):
        row = next(error.row for error in errors if error.nothing)
        what = "It says that there is no error, and other rows name some: these count."
        problems.append(Problem(name, row, "category", what, fatal=False))
    spans = []
    for error in marked:
        severity = error["severity"].strip().lower()
        category = error["category"].strip()
        start, end = _place(error)
        if start is None and _OPEN in error["target"]:
            what = "A mark <v> is not closed: the error counts without its place."
            problems.append(Problem(name, error.row, "target", what, fatal=False))
        span = Span(start, end, severity, category)
        try:
            mqm_score([] if error.planted else [span])
        except ValueError as wrong:
            raise GenieError(
                f"{name}, row {error.row:,}, severity: {wrong}.",
                code="unknown-severity",
            ) from wrong
        spans.append((span, error.planted))
    return spans


def _place(error: _Error) -> tuple[int | None, int | None]:
    """Return the mark's place in the target; none for a mark in the source only."""
    target = error["target"]
    start, close = target.find(_OPEN), target.find(_CLOSE)
    if 0 <= start < close:
        return start, close - len(_OPEN)
    if _OPEN in error["source"] or start >= 0:
        return None, None
    return 0, len(target)


def _plain(text: str) -> str:
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def _keep(error: _Error, instance: str, made: Judgments) -> None:
    if error["doc"]:
        made.documents.setdefault(instance, error["doc"])
    if error["source"]:
        made.texts.inputs.setdefault(instance, {"source": _plain(error["source"])})
    if error["target"]:
        key = (error["system"], instance)
        made.texts.outputs.setdefault(key, _plain(error["target"]))


def _row(
    errors: Sequence[_Error],
    instance: str,
    people: Mapping[str, str],
    spans: Sequence[tuple[Span, bool]],
) -> dict[str, Any]:
    """Return the score of one rater for one text; inserted errors cost nothing."""
    first = errors[0]
    own = [span for span, planted in spans if not planted]
    planted = any(error.planted for error in errors)
    value = mqm_score(own, major_punctuation=True)
    return {
        "file": first.file,
        "row": first.row,
        "role": (Role.PLANTED if planted else Role.JUDGMENT).value,
        "worker": people[first["rater"]],
        "instance": instance,
        "system": first["system"],
        "criterion": "MQM",
        "value": value,
        "word": str(value),
        "document": first["doc"],
        "spans": [span.to_dict() for span, _ in spans],
    }
