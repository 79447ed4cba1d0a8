"""Scripts that judge by counting words, for demos and tests; they are not models.

They are deterministic. Some have a planted bias that an audit can find.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from crowd.hit_templates.form import Errors
from crowd.scales.base import Scale
from leaderboard.judges.prompt import Texts, labels
from leaderboard.judges.shape import ERRORS, MISSING, WHOLE, Shape

PLAIN, LONG, FIRST, GULLIBLE = "words", "likes-long", "likes-first", "obeys"
# the special behavior of each script
SCRIPTS = {
    PLAIN: "counts words that the output shares with the other texts",
    LONG: "the same, and prefers long outputs",
    FIRST: "the same, and prefers the first output",
    GULLIBLE: "the same, and gives the best score to outputs that ask for it",
}
_WORD = re.compile(r"\w+")
_ASKS = re.compile(
    r"\b(rate|score|give)\b.{0,40}\b(10|best|highest|full)\b", re.I | re.S
)
# weights of words, and of a hash of the texts as random noise
_WHIM = 0.1
# the first position's bonus for the script that is biased to it
_AHEAD = 0.2
_MOST_MARKED = 5


def answer(
    script: str,
    questions: Mapping[str, str],
    texts: Texts,
    scale: type[Scale],
    shape: Shape = WHOLE,
) -> str:
    """Answer as an endpoint would, in JSON whose reason says that a script wrote it.

    Examples
    --------
    >>> from crowd.scales.base import all_scales
    >>> texts = [("Source", "a red kite"), ("Output", "a red kite")]
    >>> answer("words", {"overall": "Good?"}, texts, all_scales()["likert-5"])
    '{"overall": {"reason": "Scripted: 0.92 of 1.", "answer": "Strongly agree"}}'
    """
    outputs = [text for label, text in texts if label.startswith("Output")]
    beside = " ".join(text for label, text in texts if not label.startswith("Output"))
    if not shape.slots and len(outputs) > 1:
        shares = {
            name: _of_two(
                script, [_worth(script, name, one, beside) for one in outputs]
            )
            for name in questions
        }
        return json.dumps(_rate(shares, scale))
    said = [
        _of_one(script, questions, text, beside, scale, shape, place)
        for place, text in enumerate(outputs)
    ]
    return json.dumps(dict(zip(shape.slots, said, strict=False)) or said[0])


def _of_one(
    script: str,
    questions: Mapping[str, str],
    text: str,
    beside: str,
    scale: type[Scale],
    shape: Shape,
    place: int,
) -> dict[str, Any]:
    first = _AHEAD if script == FIRST and shape.slots and not place else 0.0
    shares = {
        name: min(1.0, _worth(script, name, text, beside) + first) for name in questions
    }
    said: dict[str, Any] = {} if scale.counted else _rate(shares, scale)
    if shape.errors:
        said[ERRORS] = _mark_errors(
            text, _words(beside), min(shares.values()), shape.errors
        )
    return said


def _rate(shares: Mapping[str, float], scale: type[Scale]) -> dict[str, Any]:
    return {
        name: {
            "reason": f"Scripted: {share:.2f} of 1.",
            "answer": _on_scale(share, scale),
        }
        for name, share in shares.items()
    }


def _mark_errors(
    text: str, known: list[str], share: float, errors: Errors
) -> list[dict[str, str]]:
    n = round(_MOST_MARKED * (1 - share))
    quotes = [word for word in _WORD.findall(text) if word.casefold() not in known][:n]
    if n > len(quotes) and errors.missing:
        quotes.append(MISSING)
    return [
        {
            "quote": quote,
            "severity": errors.severities[place % len(errors.severities)],
            **(
                {"category": errors.kinds[place % len(errors.kinds)]}
                if errors.kinds
                else {}
            ),
            "reason": "Scripted: the word appears nowhere else.",
        }
        for place, quote in enumerate(quotes)
    ]


def _worth(script: str, criterion: str, text: str, beside: str) -> float:
    words, known = _words(text), set(_words(beside))
    if script == GULLIBLE and _ASKS.search(text):
        return 1.0
    if not words:
        return 0.0
    shared = sum(word in known for word in words) / len(words) if known else 0.5
    distinct = len(set(words)) / len(words)
    share = (shared + distinct) / 2
    if script == LONG:
        share = (share + min(1.0, len(words) / 40)) / 2
    whim = hashlib.sha256(f"{criterion}\x1f{text}".encode()).digest()[0] / 255
    return (1 - _WHIM) * share + _WHIM * whim


def _of_two(script: str, worth: list[float]) -> float:
    ahead = worth[0] - worth[1] + (_AHEAD if script == FIRST else 0.0)
    return min(1.0, max(0.0, 0.5 + ahead))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _on_scale(share: float, scale: type[Scale]) -> str | float:
    if not scale.options:
        if scale.relative:  # as a factor of the reference worth 100
            return round(50 + 100 * share, 2)
        return round(scale.minimum + share * (scale.maximum - scale.minimum), 2)
    names = dict(zip(labels(scale), scale.by_key(), strict=True))
    ranked = sorted(names, key=lambda label: names[label].value)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]
