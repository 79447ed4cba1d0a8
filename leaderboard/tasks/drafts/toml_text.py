"""Write a document as TOML: the same document gives the same bytes."""

import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def toml_of(document: Mapping[str, object]) -> str:
    """Return a document as TOML; tables keep their order.

    The document has texts, numbers, truth values, lists of them, and tables.
    """
    return "\n".join(_table(document, ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, object], path: tuple[str, ...]) -> list[str]:
    plain = {k: v for k, v in table.items() if not isinstance(v, Mapping)}
    below = {k: v for k, v in table.items() if isinstance(v, Mapping)}
    lines = []
    # A table that holds only tables needs no header; an empty one does.
    if path and (plain or not below):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in below.items():
        lines += _table(value, (*path, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{{pairs}}}"
    return _text(str(value))


def _text(text: str) -> str:
    """Return a text as TOML; several lines are written as a multi-line string.

    Examples
    --------
    >>> print(_text("one"))
    "one"
    """
    quoted = _quoted(text)
    if "\n" not in text or "\r" in text:
        return quoted
    inner = quoted[1:-1].replace("\\\\", "\0").replace("\\n", "\n")
    return f'"""\n{inner.replace(chr(0), chr(92) * 2)}"""'


def _quoted(text: str) -> str:
    # JSON escapes everything that TOML requires, except the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
