"""The layout of an answer: one output or several, with or without marked errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.form import Errors

# The marks beside the text by the word in their instructions.
MISSING = "[missing]"
ERRORS = "errors"
_REASON_CHARACTERS = 2_000
_MOST_ERRORS = 200
# Expected tokens of the response: per question, and for errors of an output.
_TOKENS_A_QUESTION, _TOKENS_OF_ERRORS = 80, 200

Mark = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """The layout of an answer.

    `slots` are those of separately rated outputs; if empty, the answer is about the
    whole item. `errors` are marked in each output unless None.
    """

    slots: tuple[str, ...] = ()
    errors: Errors | None = None

    def tokens_back(self, n_questions: int) -> int:
        """Estimate the length of an answer in tokens.

        Examples
        --------
        >>> Shape().tokens_back(2), Shape(("A", "B"), Errors()).tokens_back(1)
        (160, 560)
        """
        one = _TOKENS_A_QUESTION * n_questions
        one += _TOKENS_OF_ERRORS if self.errors else 0
        return one * max(1, len(self.slots))


WHOLE = Shape()


def errors_asked(errors: Errors) -> str:
    """Return instructions for marking errors by the raters' taxonomy.

    Examples
    --------
    >>> print(errors_asked(Errors()))
    List the errors of an output under "errors"; an empty list if there are none. Each has:
    - "quote": the words of the output that are wrong, as few as possible, character by
      character as in the text; no two errors share words.
    - "severity": one of: "minor", "major".
    - "reason": why it is an error.
    """
    quote = (
        '- "quote": the words of the output that are wrong, as few as possible, character '
        "by\n  character as in the text; no two errors share words"
    )
    if errors.missing:
        quote += f'.\n  "{MISSING}", once at most, where something is missing'
    lines = [
        'List the errors of an output under "errors"; an empty list if there are none. '
        "Each has:",
        f"{quote}.",
        f'- "severity": one of: {_list_names(errors.severities)}.',
        '- "reason": why it is an error.',
    ]
    if errors.kinds:
        lines.insert(3, f'- "category": one of: {_list_names(errors.kinds)}.')
    return "\n".join(lines)


def errors_form(errors: Errors) -> str:
    """Return an example of the list's JSON.

    Examples
    --------
    >>> errors_form(Errors())
    '"errors": [{"quote": "...", "severity": "...", "reason": "..."}, ...]'
    """
    names = ["quote", "severity", *(["category"] if errors.kinds else []), "reason"]
    each = ", ".join(f'"{name}": "..."' for name in names)
    return f'"{ERRORS}": [{{{each}}}, ...]'


def errors_schema(errors: Errors) -> dict[str, Any]:
    """Return the list's JSON schema for endpoints that enforce one.

    Examples
    --------
    >>> errors_schema(Errors())["items"]["properties"]["severity"]["enum"]
    ['minor', 'major']
    """
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "quote": text,
        "severity": {"type": "string", "enum": [*errors.severities]},
    }
    if errors.kinds:
        properties["category"] = {"type": "string", "enum": errors.kinds}
    properties["reason"] = text
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        },
    }


def marks_of(found: Any, text: str, errors: Errors) -> list[Mark]:
    """Convert listed errors into the raters' form of marks.

    `found` is untrusted. Marks have `start` and `end` (code points, end exclusive) or
    `missing`, `severity`, `category` and `weight` as in people's answers, and the
    `reason`. A quote is located at its first occurrence that no earlier one has taken.
    Raises ValueError with a short reason.

    Examples
    --------
    >>> listed = [{"quote": "a", "severity": "minor"}, {"quote": "a", "severity": "major"}]
    >>> [(mark["start"], mark["severity"]) for mark in marks_of(listed, "a cat", Errors())]
    [(0, 'minor'), (3, 'major')]
    >>> marks_of([{"quote": "dog", "severity": "minor"}], "a cat", Errors())
    Traceback (most recent call last):
    ValueError: a quote is not in the output, or is marked twice
    """
    if not isinstance(found, list) or len(found) > _MOST_ERRORS:
        raise ValueError("not a list of errors")
    marks: list[Mark] = []
    for one in found:
        if not isinstance(one, dict):
            raise ValueError("an error is not an object")
        mark = {**_place(one.get("quote"), text, marks, errors), **_kind(one, errors)}
        reason = one.get("reason")
        said = reason[:_REASON_CHARACTERS] if isinstance(reason, str) else ""
        marks.append({**errors.add_weight(mark), "reason": said})
    return sorted(marks, key=lambda mark: mark.get("start", len(text)))


def _place(quote: Any, text: str, before: list[Mark], errors: Errors) -> Mark:
    if not isinstance(quote, str) or not quote:
        raise ValueError("an error has no quote")
    if quote == MISSING and errors.missing:
        if any("missing" in mark for mark in before):
            raise ValueError("two errors say that something is missing")
        return {"missing": True}
    taken = [(mark["start"], mark["end"]) for mark in before if "start" in mark]
    start = text.find(quote)
    while start >= 0:
        end = start + len(quote)
        if all(end <= first or last <= start for first, last in taken):
            return {"start": start, "end": end}
        start = text.find(quote, start + 1)
    raise ValueError("a quote is not in the output, or is marked twice")


def _kind(one: Mapping[str, Any], errors: Errors) -> Mark:
    severity, category = one.get("severity"), one.get("category")
    if severity not in errors.severities:
        raise ValueError("an error has an unknown severity")
    if not errors.kinds:
        return {"severity": severity}
    if category not in errors.kinds:
        raise ValueError("an error has an unknown category")
    return {"severity": severity, "category": category}


def _list_names(names: Any) -> str:
    return ", ".join(f'"{name}"' for name in names)
