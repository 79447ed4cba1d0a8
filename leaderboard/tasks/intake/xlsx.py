"""XLSX by the standard library: one sheet of texts, without computation.

A workbook is a zip of XML. Only the parts with texts are unpacked, each within a limit.
Formulas, merged cells and errors are refused with their cell, because people see
something else in them than the file contains.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO
from xml.etree import ElementTree  # entities are refused before anything is parsed

from leaderboard.tasks.intake.problem import FileProblem, Findings, Unreadable
from leaderboard.tasks.intake.table import Limits

Grid = list[tuple[str, list[str]]]
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# Tables of texts pack 3 to 30 times smaller.
# Spreadsheets count from here; they have a leap day in 1900.
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - without a zone, as in the file
_DATES = {*map(str, range(14, 23)), "45", "46", "47"}
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_MAX_RATIO = 300
_FREE_BYTES = 4 << 20
_CHUNK = 1 << 16


def grid_of(data: bytes, file: str, limits: Limits) -> Grid:
    """Read the only sheet that is not empty, as rows with their place.

    Raises
    ------
    Unreadable
        ``not-a-table``, ``damaged``, ``zip-bomb``, ``too-large``, ``empty-file``,
        ``several-sheets``, ``formula``, ``merged-cells`` or ``error-cell``.
    """
    book = _Book(data, file, limits)
    texts, dates = book.shared_texts(), book.date_styles()
    filled = []
    for name, path in book.sheets():
        sheet = _Sheet(file, name, texts, dates, limits)
        grid = sheet.read(book.parsed(path))
        if grid:
            filled.append((name, grid))
    if not filled:
        raise _no("empty-file", "no sheet holds anything", file)
    if len(filled) > 1:
        names = ", ".join(f"“{name}”" for name, _ in filled[:5])
        raise _no(
            "several-sheets",
            f"{len(filled)} sheets hold something ({names}); keep one, or save each "
            "as a file",
            file,
        )
    return filled[0][1]


class _Book:
    def __init__(self, data: bytes, file: str, limits: Limits) -> None:
        self.file, self.left = file, limits.n_bytes
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise _no(
                "damaged", "the workbook is damaged; save it again", file
            ) from None
        self.names = set(self.archive.namelist())
        if "xl/workbook.xml" not in self.names:
            raise _no(
                "not-a-table",
                "this is a zip archive and no XLSX workbook; unpack it, or save the "
                "table as XLSX",
                file,
            )

    def shared_texts(self) -> list[str]:
        if "xl/sharedStrings.xml" not in self.names:
            return []
        return [
            _text_of(entry)
            for entry in self.parsed("xl/sharedStrings.xml")
            if _tag(entry) == "si"
        ]

    def date_styles(self) -> frozenset[str]:
        """Styles of cells whose numbers are days since 1900."""
        if "xl/styles.xml" not in self.names:
            return frozenset()
        root = self.parsed("xl/styles.xml")
        own = {
            entry.get("numFmtId", ""): _QUOTED.sub("", entry.get("formatCode", ""))
            for entry in root.iter()
            if _tag(entry) == "numFmt"
        }
        kinds = {key for key, code in own.items() if re.search("[ymdhYMDH]", code)}
        kinds |= _DATES
        cells: Iterable[ElementTree.Element] = next(
            (entry for entry in root if _tag(entry) == "cellXfs"), ()
        )
        return frozenset(
            str(place)
            for place, entry in enumerate(cells)
            if entry.get("numFmtId", "") in kinds
        )

    def sheets(self) -> Iterator[tuple[str, str]]:
        targets = {}
        if "xl/_rels/workbook.xml.rels" in self.names:
            for entry in self.parsed("xl/_rels/workbook.xml.rels"):
                target = entry.get("Target", "")
                targets[entry.get("Id")] = (
                    target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                )
        for entry in self.parsed("xl/workbook.xml").iter():
            if _tag(entry) != "sheet" or entry.get("state", "visible") != "visible":
                continue
            key = entry.get(_RELATION) or entry.get(_STRICT_RELATION)
            path = targets.get(key, "")
            if path in self.names:
                yield entry.get("name", ""), path

    def parsed(self, path: str) -> ElementTree.Element:
        text = self._unpacked(path)
        # A document type could define entities; spreadsheets have none.
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise self._damaged(path)
        try:
            return ElementTree.fromstring(text)  # noqa: S314 - see above
        except (ElementTree.ParseError, ValueError, LookupError):
            raise self._damaged(path) from None

    def _unpacked(self, path: str) -> bytes:
        info = self.archive.getinfo(path)
        most = min(self.left, _FREE_BYTES + _MAX_RATIO * info.compress_size)
        parts, n = [], 0
        try:
            with self.archive.open(info) as member:
                while chunk := self._chunk(member):
                    n += len(chunk)
                    if n > most:
                        raise _no(
                            "zip-bomb",
                            f"the workbook unpacks to more than {most:,} bytes, which "
                            "no table of texts does; save it as CSV",
                            self.file,
                        )
                    parts.append(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise self._damaged(path) from None
        except (RuntimeError, NotImplementedError):
            raise _no(
                "not-a-table",
                "the workbook has a password; save it without one",
                self.file,
            ) from None
        self.left -= n
        return b"".join(parts)

    @staticmethod
    def _chunk(member: IO[bytes]) -> bytes:
        return member.read(_CHUNK)

    def _damaged(self, path: str) -> Unreadable:
        return _no(
            "damaged",
            f"its part {path[:60]} is damaged; save the workbook again",
            self.file,
        )


@dataclass
class _Sheet:
    file: str
    name: str
    texts: list[str]
    dates: frozenset[str]
    limits: Limits

    def read(self, root: ElementTree.Element) -> Grid:
        found = Findings()
        grid: Grid = []
        number = 0
        for row in (entry for entry in root.iter() if _tag(entry) == "row"):
            number = self._number(row, number)
            cells = self._cells(row, number, found)
            if any(cell.strip() for cell in cells):
                grid.append((f"row {number:,}", cells))
                if len(grid) > self.limits.n_rows + 1:
                    break
        if grid:
            self._merged(root, found)
        if problems := found.all():
            raise Unreadable(*problems)
        width = max((len(cells) for _, cells in grid), default=0)
        # Empty cells at the end of a row are not stored.
        return [(place, cells + [""] * (width - len(cells))) for place, cells in grid]

    @staticmethod
    def _number(row: ElementTree.Element, last: int) -> int:
        given = row.get("r", "")
        return int(given) if given.isdecimal() and len(given) < 8 else last + 1

    def _cells(
        self, row: ElementTree.Element, number: int, found: Findings
    ) -> list[str]:
        cells: list[str] = []
        for cell in (entry for entry in row if _tag(entry) == "c"):
            match = _CELL.fullmatch(cell.get("r", ""))
            column = _index(match[1]) if match else len(cells)
            if column >= self.limits.n_columns:
                text = self._value(cell, number, column, found)
                if text.strip():
                    raise _no(
                        "too-large",
                        f"more than {self.limits.n_columns} columns are used",
                        self.file,
                        f"row {number:,}",
                    )
                continue
            cells += [""] * (column + 1 - len(cells))
            cells[column] = self._value(cell, number, column, found)
        return cells

    def _value(
        self, cell: ElementTree.Element, number: int, column: int, found: Findings
    ) -> str:
        parts = {_tag(entry): entry for entry in cell}
        place = f"cell {_letters(column)}{number}"
        kind = cell.get("t", "n")
        if "f" in parts:
            found.add(
                FileProblem(
                    "formula",
                    "a formula stands here; paste the table as values",
                    self.file,
                    place,
                )
            )
            return ""
        if kind == "inlineStr":
            return _text_of(parts["is"]) if "is" in parts else ""
        value = (parts["v"].text or "") if "v" in parts else ""
        if kind == "s":
            at = int(value) if value.isdecimal() and len(value) < 10 else -1
            return self.texts[at] if 0 <= at < len(self.texts) else ""
        if kind == "e":
            found.add(
                FileProblem(
                    "error-cell",
                    f"the cell shows the error {value[:20]}; correct it",
                    self.file,
                    place,
                )
            )
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "n" and cell.get("s") in self.dates:
            return _date(value)
        return _number(value) if kind == "n" else _unescaped(value)

    def _merged(self, root: ElementTree.Element, found: Findings) -> None:
        for entry in root.iter():
            if _tag(entry) == "mergeCell":
                found.add(
                    FileProblem(
                        "merged-cells",
                        f"the cells {entry.get('ref', '')[:20]} are merged; unmerge "
                        "them, so that each column has one header and each row one "
                        "cell",
                        self.file,
                    )
                )


def _tag(entry: ElementTree.Element) -> str:
    return str(entry.tag).removeprefix(_MAIN).removeprefix(_STRICT)


def _text_of(entry: ElementTree.Element) -> str:
    """Join the runs of a text, without phonetic readings (rPh)."""
    parts = []
    for child in entry:
        if _tag(child) == "t":
            parts.append(child.text or "")
        elif _tag(child) == "r":
            parts += [run.text or "" for run in child if _tag(run) == "t"]
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _number(value: str) -> str:
    """Return a whole number without the decimal point that some programs store.

    Examples
    --------
    >>> _number("12.0"), _number("1.5")
    ('12', '1.5')
    """
    return value.removesuffix(".0")


def _date(value: str) -> str:
    """Return days since 1900 as a date, with the time of day if there is one.

    Examples
    --------
    >>> _date("46024"), _date("46024.5"), _date("x")
    ('2026-01-02', '2026-01-02 12:00:00', 'x')
    """
    try:
        moment = _EPOCH + timedelta(seconds=round(86_400 * float(value)))
    except (ValueError, OverflowError):
        return value
    return str(moment).removesuffix(" 00:00:00")


def _index(letters: str) -> int:
    """Return the number of a column, from 0.

    Examples
    --------
    >>> _index("A"), _index("AB")
    (0, 27)
    """
    index = 0
    for letter in letters:
        index = 26 * index + ord(letter) - 64
    return index - 1


def _letters(index: int) -> str:
    """Return the letters of a column.

    Examples
    --------
    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    letters, index = "", index + 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _no(code: str, message: str, file: str, place: str = "") -> Unreadable:
    return Unreadable(FileProblem(code, message, file, place))
