"""Text formats that are safe for hostile content: CSV, LaTeX, conversations."""

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError

# Records as CSV that spreadsheets open without executing formulas.
Cell = str | int | float | bool | None
# A cell that begins like this would be a formula; the wide signs in some languages'
# spreadsheets.
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)


def looks_like_formula(text: str) -> bool:
    return text.startswith(_FORMULA)


# They make a text look different from its content, or are no characters.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def first_unfit(text: str) -> str:
    """Return the name of a text's first character that cannot be shown as it is."""
    match = _UNFIT.search(text)
    return f"U+{ord(match[0]):04X}" if match else ""


def csv_text(columns: Sequence[str], records: Iterable[Mapping[str, Cell]]) -> str:
    """Return records with a header line; texts that look like formulas get a quote."""
    return "".join(csv_lines(columns, records))


def csv_lines(
    columns: Sequence[str], records: Iterable[Mapping[str, Cell]]
) -> Iterator[str]:
    """Yield the same text record by record, the header first."""
    # With this ending the writer quotes both of its characters; a reader takes either
    # alone for the end of a line.
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    yield line(columns).removesuffix("\r\n") + "\n"
    for record in records:
        cells = [_cell(record.get(column)) for column in columns]
        yield line(cells).removesuffix("\r\n") + "\n"


class _Echo:
    def write(self, line: str) -> str:
        return line


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # numbers are unchanged: a negative one is no formula
        return f"'{value}" if looks_like_formula(value) else value
    # repr gives the shortest digits that read back to the same number
    return repr(value)


# Languages of WMT's test sets; other codes stay unchanged.
_TWO = {
    **{"ara": "ar", "ben": "bn", "ces": "cs", "dan": "da", "deu": "de", "ell": "el"},
    **{"eng": "en", "spa": "es", "est": "et", "fas": "fa", "fin": "fi", "fra": "fr"},
    **{"guj": "gu", "hau": "ha", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu"},
    **{"isl": "is", "ita": "it", "iku": "iu", "jpn": "ja", "kaz": "kk", "khm": "km"},
    **{"kor": "ko", "lit": "lt", "lav": "lv", "mar": "mr", "nld": "nl", "nor": "no"},
    **{"pol": "pl", "pus": "ps", "por": "pt", "ron": "ro", "rus": "ru", "srp": "sr"},
    **{"swe": "sv", "swa": "sw", "tam": "ta", "tha": "th", "tur": "tr", "ukr": "uk"},
    **{"urd": "ur", "vie": "vi", "xho": "xh", "zho": "zh", "zul": "zu"},
}


def two_letters(code: str) -> str:
    """Return a language code for HTML and screen readers.

    Examples
    --------
    >>> two_letters("deu"), two_letters("de"), two_letters("mlt")
    ('de', 'de', 'mlt')
    """
    return _TWO.get(code.lower(), code)


# LaTeX that compiles with any text.
_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
}
# All signs in one pass, because one after another would escape the escapes.
_ANY = re.compile("|".join(map(re.escape, _SIGNS)))


def tex(text: str) -> str:
    """Escape a text; line breaks become spaces."""
    # an empty line would end the paragraph, or in a cell even the compilation
    return _ANY.sub(lambda sign: _SIGNS[sign[0]], " ".join(text.split()))


def tabular(
    columns: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    rules_before: Collection[int] = (),
) -> list[str]:
    """Return the lines of a table with booktabs rules; cells are LaTeX already.

    `rules_before` has the indices of rows with a rule above them.
    """
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        "  " + " & ".join(header) + r" \\",
        r"  \midrule",
        *(
            (r"  \midrule" + "\n" if place in rules_before else "")
            + "  "
            + " & ".join(row)
            + r" \\"
            for place, row in enumerate(rows)
        ),
        r"  \bottomrule",
        r"\end{tabular}",
    ]


# The engine that reads and writes Parquet: DuckDB, of the extra `parquet`.
_SETTINGS = {
    # it may run in a worker of the queue, next to others
    "threads": "1",
    "memory_limit": "1GB",
    # files are read once
    "enable_external_file_cache": "false",
    # no downloads
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def available() -> bool:
    return find_spec("duckdb") is not None


def check_available() -> None:
    """Refuse with ``no-parquet``, and how to install it, if the engine is missing."""
    if not available():
        raise GenieError(
            "Parquet needs DuckDB: install Genie with its extra, "
            "pip install 'genie-leaderboards[parquet]'.",
            code="no-parquet",
        )


def engine(folder: Path | None = None) -> Any:
    """Open a connection, or refuse with ``no-parquet``; large data goes into `folder`."""
    check_available()
    import duckdb

    spare = {"temp_directory": str(folder)} if folder else {}
    connection = duckdb.connect(config={**_SETTINGS, **spare})
    connection.execute("SET enable_progress_bar = false")
    return connection


# Conversations: a list of turns as one readable text, and back.
#
# Exports and pages without a layout for turns show the text: `User: Hello.` and, after an
# empty line, `Assistant: Hi!`. Metrics read the assistant's turns in it.
_ROLES = ("role", "from", "speaker", "author")
_CONTENTS = ("content", "value", "text", "message")
# If a paragraph of a turn begins like a turn, a space before it keeps it apart.
_LIKE_A_TURN = re.compile(r"(\n\n)(?=[A-Z][A-Za-z0-9_-]{0,29}: )")
_TURN = re.compile(r"(?:\A|\n\n)([A-Z][A-Za-z0-9_-]{0,29}): ")
_NAMES = {
    **dict.fromkeys(("user", "human"), "User"),
    **dict.fromkeys(("assistant", "gpt", "bot", "chatbot", "model", "ai"), "Assistant"),
}
_ASSISTANT = "Assistant"
# Outputs next to each other are aligned turn by turn, in at most so many rows.
MOST_TURNS = 100


def is_conversation(value: object) -> bool:
    """Check whether a value is meant as a list of turns with roles.

    Examples
    --------
    >>> is_conversation([{"role": "user", "content": "Hello"}]), is_conversation(["a"])
    (True, False)
    """
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) for turn in value)
        and any(_value_of(turn, _ROLES) is not None for turn in value)
    )


def parse_conversation(text: str) -> list[object] | None:
    """Read a conversation from JSON in a table's cell; None: it is none.

    Examples
    --------
    >>> parse_conversation('[{"role": "user", "content": "Hello"}]')
    [{'role': 'user', 'content': 'Hello'}]
    >>> parse_conversation("[1] says so")
    """
    if not text.lstrip().startswith("[{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_conversation(value) else None


def problem(turns: Sequence[object]) -> str:
    """Return the problem of a list of turns; empty if it can be shown.

    Examples
    --------
    >>> problem([{"role": "user", "content": "Hello"}, {"role": "assistant"}])
    'turn 2 has no text under “content”'
    """
    if len(turns) > MOST_TURNS:
        return f"it has {len(turns):,} turns, but at most {MOST_TURNS} are allowed"
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, dict):
            return f"turn {number} is not an object with a role and content"
        role = _value_of(turn, _ROLES)
        if not isinstance(role, str) or not role.strip():
            return f"turn {number} has no role"
        if _content(turn) is None:
            return f"turn {number} has no text under “content”"
    return ""


def as_text(turns: Sequence[object]) -> str:
    r"""Return a list of turns as text.

    Each has role and content (or from and value, speaker and text); a content may be a
    list of parts with a text each.
    """
    return "\n\n".join(
        f"{_role(turn)}: {_LIKE_A_TURN.sub(_KEPT_APART, _content(turn) or '')}"
        for turn in turns
        if isinstance(turn, dict)
    )


def turns_of(text: str) -> list[tuple[str, str]]:
    r"""Split a conversation into speakers and their texts.

    Text before the first speaker has the speaker "".

    Examples
    --------
    >>> turns_of("User: Hello\n\nAre you there?\n\nAssistant: Yes")
    [('User', 'Hello\n\nAre you there?'), ('Assistant', 'Yes')]
    >>> turns_of("Yes")
    [('', 'Yes')]
    """
    first, *rest = _TURN.split(text)
    before = [("", first.strip("\n"))] if first.strip() else []
    return before + list(zip(rest[::2], rest[1::2], strict=True))


def assistant_says(text: str) -> str:
    r"""Return the assistant's texts of all turns, one below the other.

    A text without a turn of the assistant is returned unchanged.

    Examples
    --------
    >>> assistant_says("User: Hello\n\nAssistant: Yes?\n\nUser: So.\n\nAssistant: Ah.")
    'Yes?\nAh.'
    >>> assistant_says("Yes?")
    'Yes?'
    """
    said = [speech for role, speech in turns_of(text) if role == _ASSISTANT]
    return "\n".join(said) if said else text


_KEPT_APART = r"\1 "


def _value_of(turn: object, names: Sequence[str]) -> object:
    if not isinstance(turn, dict):
        return None
    return next((turn[name] for name in names if name in turn), None)


def _content(turn: object) -> str | None:
    content = _value_of(turn, _CONTENTS)
    if isinstance(content, list) and content:
        texts = [_value_of(part, ("text",)) for part in content]
        said = [text for text in texts if isinstance(text, str)]
        return "\n".join(said) if len(said) == len(texts) else None
    return content if isinstance(content, str) else None


def _role(turn: object) -> str:
    given = str(_value_of(turn, _ROLES)).strip()
    name = _NAMES.get(given.lower(), given)
    fitting = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:30] or "Speaker"
    first = fitting[0].upper()
    return f"{first}{fitting[1:]}" if first.isalpha() else f"S{fitting[:29]}"
