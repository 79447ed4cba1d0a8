"""Patterns for free-text answers: JavaScript's, matched by RE2.

Patterns are untrusted, so they must not use up the server's time. RE2 needs time linear
in the answer. It can match most of JavaScript's syntax; the rest is refused, and so is
the syntax of other dialects, which would have a different meaning here.
"""

import re
from dataclasses import dataclass
from typing import Any

USUAL_ERROR = "Invalid input supplied."
LONGEST_PATTERN = 2_000
# The limit for all patterns of a form together, in RE2's instructions: some seconds for
# the longest possible answers.
MOST_INSTRUCTIONS = 25_000
_MEMORY = 1 << 20
# JavaScript's \s, and its complement.
_SPACES = (
    r"\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
    r"\x{FEFF}"
)
_NO_SPACES = (
    r"\x00-\x08\x0E-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}"
    r"\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}"
    r"\x{FF00}-\x{10FFFF}"
)
_TOKEN = re.compile(
    r"\\u(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})\\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|\\u(?P<hex>[0-9A-Fa-f]{4})"
    r"|\\c(?P<control>[A-Za-z])"
    r"|\\(?P<escaped>.)"
    r"|(?P<group>\(\?(?:<[=!]|.)?)"
    r"|(?P<open>\[\^?\]?)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_KNOWN_ESCAPES = frozenset("bBdDfnpPrtvwWx0")
_CLASS_OF_OTHERS = re.compile(r"\[:|&&|-\[")


class FormatError(ValueError): ...


@dataclass(frozen=True)
class AnswerFormat:
    """One pattern, found anywhere in the answer, and its error message."""

    pattern: str
    any_case: bool = False
    error: str = USUAL_ERROR

    def fits(self, text: str) -> bool:
        return _compile(self).search(text) is not None

    @property
    def n_instructions(self) -> int:
        """The cost of checking a text, per character; may raise FormatError."""
        compiled = _compile(self)
        return int(max(compiled.programsize, compiled.reverseprogramsize))


def to_re2(pattern: str) -> str:
    r"""Translate a JavaScript regular expression into RE2's syntax.

    Raises
    ------
    FormatError
        If RE2 cannot match it or JavaScript does not know it.

    Examples
    --------
    >>> to_re2(r"caf\u00e9|\/[^]")
    'caf\\x{00e9}|\\/[\\x00-\\x{10FFFF}]'
    >>> to_re2(r"(a)\1")
    Traceback (most recent call last):
        ...
    crowd.requester.questions.answer_format.FormatError: it has a backreference
    """
    written, in_class = [], False
    for token in _TOKEN.finditer(pattern):
        if token["open"] and not in_class:
            # In JavaScript [] and [^] are whole classes; elsewhere the bracket would be
            # their first member.
            in_class = not token["open"].endswith("]")
            written.append(_class_start(token["open"]))
        elif token["other"] == "]":
            in_class = False
            written.append("]")
        else:
            written.append(_piece(pattern, token, in_class))
    return "".join(written)


def _piece(pattern: str, token: re.Match[str], in_class: bool) -> str:
    if token["high"]:
        pair = bytes.fromhex(token["high"] + token["low"]).decode("utf-16-be")
        return f"\\x{{{ord(pair):X}}}"
    if token["hex"]:
        if token["hex"][0] in "dD" and token["hex"][1] not in "01234567":
            raise FormatError(f"{token[0]} is half a character")
        return f"\\x{{{token['hex']}}}"
    if token["control"]:
        return f"\\x{{{ord(token['control']) % 32:X}}}"
    if token["escaped"]:
        return _escape(token["escaped"], in_class)
    if in_class:
        if _CLASS_OF_OTHERS.match(pattern, token.start()):
            raise FormatError("it uses a character class that JavaScript does not have")
        return token[0]
    if token["group"]:
        return _group(token["group"])
    return token[0]


def _class_start(opened: str) -> str:
    if opened == "[]":
        raise FormatError("it has an empty character class")
    return r"[\x00-\x{10FFFF}]" if opened == "[^]" else opened


def _escape(letter: str, in_class: bool) -> str:
    if letter == "s":
        return _SPACES if in_class else f"[{_SPACES}]"
    if letter == "S":
        return _NO_SPACES if in_class else f"[{_NO_SPACES}]"
    if letter == "b" and in_class:
        return r"\x08"
    if letter in "123456789k":
        raise FormatError("it has a backreference")
    if not letter.isascii():
        return letter
    if letter.isalnum() and letter not in _KNOWN_ESCAPES:
        raise FormatError(f"JavaScript does not have \\{letter}")
    return "\\" + letter


def _group(opened: str) -> str:
    if opened in {"(?=", "(?!", "(?<=", "(?<!"}:
        raise FormatError("it has a lookahead or lookbehind")
    if opened not in {"(?:", "(?<"}:
        raise FormatError(f"JavaScript does not have the group {opened}")
    return opened


def _compile(answer_format: AnswerFormat) -> Any:
    import re2

    if len(answer_format.pattern) > LONGEST_PATTERN:
        raise FormatError(f"it is longer than {LONGEST_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    # Nothing is captured, so RE2 may use its fastest engine.
    options.never_capture = True
    options.case_sensitive = not answer_format.any_case
    try:
        return re2.compile(to_re2(answer_format.pattern), options)
    except re2.error as error:
        message = error.args[0] if error.args else b""
        why = (
            message.decode("utf-8", "replace")
            if isinstance(message, bytes)
            else str(message)
        )
        raise FormatError(why) from None
