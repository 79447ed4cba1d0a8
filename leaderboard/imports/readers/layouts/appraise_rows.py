"""The rows of Appraise's export, and their roles."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from genie.lib.errors import GenieError
from leaderboard.imports.readers.item_fields import number_of
from leaderboard.imports.readers.judgments import Problem, Role, Span
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import inclusive
from leaderboard.imports.readers.tables import csv_rows

_TYPES = {
    "TGT": Role.JUDGMENT,
    "BAD": Role.PLANTED,
    "REF": Role.REFERENCE,
    "CHK": Role.REPEATED,
}
# Columns before the two times -> kind of campaign.
_KINDS = {7: "segments", 9: "documents", 10: "spans"}
# Unix seconds are larger than any item number.
_A_TIME = 1e8
# Roles in which a repeated row replaces the earlier one.
_SAID_AGAIN = (Role.JUDGMENT, Role.PLANTED, Role.REFERENCE, Role.REPEATED)


@dataclass
class Row:
    """One row; the score is NaN if the row cannot be used."""

    number: int
    login: str
    system: str
    item: str
    type: str
    pair: str
    score: float
    word: str
    document: str
    whole: bool
    spans: list[Span] | None
    start: float
    end: float
    role: Role = Role.JUDGMENT
    instance: str = ""
    text: str = ""
    other: Row | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The document without its system and its modification tags."""
        return self.document.partition("#")[0]

    @property
    def usable(self) -> bool:
        """Whether it has a score, and in a pair the other row, too."""
        both = (self, self.other or self)
        return not any(math.isnan(row.score) for row in both)


def kind_of(source: Source) -> str:
    """Return the kind of campaign of a file's first row, "" if it is none.

    Examples
    --------
    >>> kind_of(Source("a.csv", b"u1,red,1,TGT,eng,dan,83,1760000000.5,1760000001.5"))
    'segments'
    """
    if source.ending not in ("csv", "txt"):
        return ""
    try:
        first = next(csv.reader(source.lines(1)), [])
    except csv.Error:
        return ""
    shape = _shape(first)
    return _KINDS.get(shape, "") if shape and first[3] in _TYPES else ""


def _shape(cells: list[str]) -> int:
    """Count the columns before the times; 0 if there are no times."""
    for end in (len(cells), len(cells) - 2):
        if end - 2 in _KINDS and all(_is_time(cell) for cell in cells[end - 2 : end]):
            return end - 2
    return 0


def _is_time(cell: str) -> bool:
    try:
        return float(cell) > _A_TIME
    except ValueError:
        return False


def rows_of(source: Source, problems: list[Problem]) -> list[Row]:
    """Read all rows, also unusable ones: others need them as neighbors.

    `problems` gets one for each unusable row. Raises "mixed-kinds" if rows are of
    several kinds of campaigns.

    Examples
    --------
    >>> row = b"u1,red,1,TGT,eng,dan,83,1760000000.5,1760000001.5"
    >>> rows_of(Source("a.csv", row), [])[0].score
    83.0
    """
    cells = list(csv_rows(source))
    shapes = Counter(_shape(row) for _, row in cells)
    shapes.pop(0, None)
    if len(shapes) > 1:
        kinds = " and ".join(f"{n:,} of {_KINDS[s]}" for s, n in sorted(shapes.items()))
        raise GenieError(
            f"{source.name} mixes rows of several kinds ({kinds}): give a file each.",
            code="mixed-kinds",
        )
    shape = next(iter(shapes), 0)
    made = []
    for number, row in cells:
        try:
            made.append(_row(number, row, shape))
            _fill(made[-1], row[9] if shape == 10 else "")
        except _WrongError as wrong:
            problems.append(Problem(source.name, number, wrong.field, str(wrong)))
    return made


class _WrongError(ValueError):
    def __init__(self, column: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = column


def _row(number: int, cells: list[str], shape: int) -> Row:
    if len(cells) < shape + 2 or _shape(cells) != shape:
        raise _WrongError(
            "",
            f"It has {len(cells)} columns, or no times where the others have them: put"
            " the row right or take it out.",
        )
    login, system, item, kind, source, target, word = (
        cell.strip() for cell in cells[:7]
    )
    document, flag = cells[7:9] if shape > 7 else ("", "")
    start, end = (float(cell) for cell in cells[shape : shape + 2])
    return Row(
        number,
        login,
        system,
        item,
        kind,
        f"{source}-{target}",
        math.nan,
        word,
        document.strip(),
        flag.strip() == "True",
        [] if shape == 10 else None,
        start,
        end,
    )


def _fill(row: Row, spans: str) -> None:
    """Read the marks, and last the score, so that only a valid row has one."""
    if row.type not in _TYPES:
        raise _WrongError("type", f"{row.type!r} is none of {', '.join(_TYPES)}.")
    if row.spans is not None:
        row.spans = _spans(spans)
    row.score = number_of(row.word)
    if math.isnan(row.score):
        raise _WrongError("score", f"{row.word!r} is no number.")


def _spans(cell: str) -> list[Span]:
    try:
        return inclusive(json.loads(cell or "[]"))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _WrongError("spans", f"They cannot be read: {error}.") from None


def give_roles(rows: list[Row]) -> None:
    """Set the role of each row; of repeated rows, the last counts.

    Examples
    --------
    >>> row = b"u1,red,1,BAD,eng,dan,83,1760000000.5,1760000001.5"
    >>> rows = rows_of(Source("a.csv", row), [])
    >>> give_roles(rows)
    >>> rows[0].role
    <Role.PLANTED: 'planted'>
    """
    for row in rows:
        row.role = _role(row)
    latest: dict[tuple[str, ...], Row] = {}
    for row in rows:
        if row.role not in _SAID_AGAIN:
            continue
        key = (row.login, row.system, row.item, row.document, row.type)
        before = latest.get(key)
        # An unusable row does not replace a usable one.
        if before and _order(before) > _order(row):
            row.role = Role.SUPERSEDED
            continue
        if before:
            before.role = Role.SUPERSEDED
        latest[key] = row


def _order(row: Row) -> tuple[bool, float]:
    return not math.isnan(row.score), row.end


def _role(row: Row) -> Role:
    tags = row.document.split("#")[1:]
    if "tutorial" in row.document or "tutorial" in row.system:
        return Role.TUTORIAL
    if any(tag.startswith(("duplicate", "incomplete")) for tag in tags):
        return Role.FILL_UP
    if any(tag.startswith("dup") for tag in tags):
        return Role.REPEATED
    if any(tag.startswith("bad") for tag in tags):
        return Role.PLANTED
    if row.whole:
        return Role.DOCUMENT
    return _TYPES.get(row.type, Role.JUDGMENT)


def join_pairs(rows: list[Row]) -> None:
    r"""Link the two rows of a task with two outputs side by side.

    Examples
    --------
    >>> times = "1760000000.5,1760000001.5"
    >>> text = f"u1,red,1,TGT,eng,dan,83,{times}\nu1,blue,1,TGT,eng,dan,40,{times}"
    >>> rows = rows_of(Source("a.csv", text.encode()), [])
    >>> join_pairs(rows)
    >>> rows[0].other.system
    'blue'
    """
    together: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.role is not Role.SUPERSEDED and row.spans is None:
            when = (str(row.start), str(row.end))
            kind = _TYPES.get(row.type, Role.JUDGMENT)
            together[(row.login, row.item, row.document, kind, *when)].append(row)
    for found in together.values():
        if len(found) == 2 and found[0].system != found[1].system:
            found[0].other, found[1].other = found[1], found[0]


def refuse_outside(rows: list[Row], name: str) -> None:
    """Refuse scores of pairs that are on no scale; others are checked with the scale.

    Raises ``not-on-the-scale``.
    """
    for row in rows:
        if row.other and row.usable and not 0 <= row.score <= 100:
            raise GenieError(
                f"{name}, row {row.number:,}, score: {row.word} is outside the scale"
                " 0 to 100. Correct it.",
                code="not-on-the-scale",
            )


def systems_of(system: str) -> list[str]:
    """Return the systems of one text, without the prefix of the test set.

    Examples
    --------
    >>> systems_of("wmt23.red+wmt23.blue")
    ['red', 'blue']
    """
    return [re.sub(r"^wmt\d\d\.", "", one) for one in system.split("+") if one]
