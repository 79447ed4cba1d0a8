"""Decode the bytes of a file."""

import codecs
import re

from leaderboard.tasks.intake.problem import FileProblem, Unreadable

_KINDS = {
    b"\xd0\xcf\x11\xe0": "an Excel file of before 2007, or one with a password; save it "
    "as XLSX without a password, or as CSV",
    b"%PDF": "a PDF; save the table as CSV",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"PAR1": "a Parquet file; save the table as JSONL",
    b"SQLite format 3": "a database; save the table as CSV",
    b"\x89PNG": "a picture; a table of texts is needed",
    b"\xff\xd8\xff": "a picture; a table of texts is needed",
}
_MARKS = (
    # the longer marks first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def text_of(data: bytes, file: str) -> str:
    r"""Return the text of a UTF-8 file, or of UTF-16 or UTF-32 with a byte order mark.

    Raises `Unreadable` with ``empty-file``, ``not-a-table``, ``wrong-encoding``,
    ``nul`` or ``control-character``.

    Examples
    --------
    >>> text_of("id\n1".encode("utf-16"), "a.csv")
    'id\n1'
    """
    for magic, kind in _KINDS.items():
        if data.startswith(magic):
            raise _no("not-a-table", f"the file is {kind}", file)
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(data, error, encoding, file) from None
    if not text.strip():
        raise _no("empty-file", "the file is empty", file)
    if match := _CONTROL.search(text):
        raise _control(text, match.start(), file)
    return text


def _not_text(
    data: bytes, error: UnicodeDecodeError, encoding: str, file: str
) -> Unreadable:
    if encoding in {"utf-16", "utf-32"}:
        return _no(
            "wrong-encoding",
            f"the file begins as {encoding.upper()} and is not; save it as UTF-8",
            file,
        )
    if file.lower().endswith(".xlsx"):
        return _no(
            "not-a-table",
            "this is no XLSX workbook, whatever its name says; save the table as XLSX "
            "or CSV",
            file,
        )
    line = data.count(b"\n", 0, error.start) + 1
    return _no(
        "wrong-encoding",
        f"the byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8 "
        "(in a spreadsheet: CSV UTF-8)",
        file,
        f"line {line:,}",
    )


def _control(text: str, at: int, file: str) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    if text[at] == "\0":
        return _no(
            "nul",
            "a NUL character stands here, so this is no text, or UTF-16 without its "
            "byte order mark; save it as UTF-8",
            file,
            f"line {line:,}",
        )
    return _no(
        "control-character",
        f"the control character U+{ord(text[at]):04X} stands here; remove it",
        file,
        f"line {line:,}",
    )


def _no(code: str, message: str, file: str, place: str = "") -> Unreadable:
    return Unreadable(FileProblem(code, message, file, place))
