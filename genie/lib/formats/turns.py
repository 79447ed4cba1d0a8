"""Conversations: a list of turns as one readable text, and back.

Exports and pages without a layout for turns show the text: `User: Hello.` and, after an
empty line, `Assistant: Hi!`. Metrics read the assistant's turns in it.
"""

import json
import re
from collections.abc import Sequence

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
        and any(_named(turn, _ROLES) is not None for turn in value)
    )


def parsed(text: str) -> list[object] | None:
    """Read a conversation from JSON in a table's cell; None: it is none.

    Examples
    --------
    >>> parsed('[{"role": "user", "content": "Hello"}]')
    [{'role': 'user', 'content': 'Hello'}]
    >>> parsed("[1] says so")
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
        return f"it has {len(turns):,} turns; {MOST_TURNS} are possible"
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, dict):
            return f"turn {number} is no object with a role and a content"
        role = _named(turn, _ROLES)
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


def _named(turn: object, names: Sequence[str]) -> object:
    if not isinstance(turn, dict):
        return None
    return next((turn[name] for name in names if name in turn), None)


def _content(turn: object) -> str | None:
    content = _named(turn, _CONTENTS)
    if isinstance(content, list) and content:
        texts = [_named(part, ("text",)) for part in content]
        said = [text for text in texts if isinstance(text, str)]
        return "\n".join(said) if len(said) == len(texts) else None
    return content if isinstance(content, str) else None


def _role(turn: object) -> str:
    given = str(_named(turn, _ROLES)).strip()
    name = _NAMES.get(given.lower(), given)
    fitting = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:30] or "Speaker"
    first = fitting[0].upper()
    return f"{first}{fitting[1:]}" if first.isalpha() else f"S{fitting[:29]}"
