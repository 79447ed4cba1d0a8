"""Problems of a file of predictions, for people and for programs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# How many of a kind are listed; all of them are counted.
N_NAMED = 20
_LONGEST = 80

# Harmful or invisible characters in an id: controls, separators that some
# programs take for line ends, zero-width and directional characters, lone surrogates.
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True)
class Problem:
    """One kind of problem in a file; all fields are JSON-serializable.

    `code` is a stable, hyphenated name. `message` is one sentence: what, where, and
    what to do. `examples` are the first twenty, with ``id`` and ``line`` if they have
    them.
    """

    code: str
    message: str
    count: int = 1
    examples: list[dict[str, Any]] = field(default_factory=list)


class Refused(Exception):
    """Stops the reading of a file that cannot be read further."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass
class Tally:
    """Counts occurrences of one kind and stores the first twenty."""

    count: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, **example: Any) -> None:
        """Count one occurrence, without fields that are None."""
        self.count += 1
        if len(self.examples) < N_NAMED:
            self.examples.append({k: v for k, v in example.items() if v is not None})

    def problem(self, code: str, message: str) -> Problem:
        """Return the problem; ``{named}`` in the message becomes the examples."""
        return Problem(
            code,
            message.replace("{named}", named(self.examples, self.count)),
            self.count,
            self.examples,
        )


def refuse(code: str, message: str, **example: Any) -> Refused:
    """Return the exception for a problem that occurs once.

    Examples
    --------
    >>> refuse("empty-file", "The file is empty.").problem.code
    'empty-file'
    """
    return Refused(Problem(code, message, 1, [example] if example else []))


def shown(text: str) -> str:
    r"""Return a stranger's text in a form that is safe to show and to store.

    It has at most 80 characters; unprintable ones are escaped as ``\u202e``.

    Examples
    --------
    >>> shown("a\u202eb\x00")
    'a\\u202eb\\u0000'
    >>> len(shown("x" * 1000))
    80
    """
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", cut)


def named(examples: Iterable[dict[str, Any]], count: int) -> str:
    """Return examples in words.

    They have ``id``, ``line`` and ``what`` if these are known; `count` is the number of
    all occurrences.

    Examples
    --------
    >>> named([{"id": "a", "line": 3}, {"line": 4, "what": "null"}], 5)
    'a (line 3), line 4 (null) and 3 more'
    """
    parts = [_in_words(example) for example in examples]
    more = count - len(parts)
    return ", ".join(parts) + (f" and {more:,} more" if more > 0 else "")


def _in_words(example: dict[str, Any]) -> str:
    place = f"line {example['line']:,}" if "line" in example else ""
    if "first_line" in example:
        first, again = example["first_line"], example["line"]
        place = (
            f"twice in line {first:,}"
            if first == again
            else f"lines {first:,} and {again:,}"
        )
    notes = [str(example["what"])] if "what" in example else []
    head = example.get("id")
    if head is None:
        head = place
    elif place:
        notes.insert(0, place)
    return f"{head} ({', '.join(notes)})" if notes else str(head)
