"""The evaluation card on one screen: the lines that a reader looks for first."""

from __future__ import annotations

from typing import Any

from leaderboard.releases.exports import in_words
from leaderboard.releases.selectors.card import Card, Section
from leaderboard.releases.selectors.judges import TITLE as JUDGES
from leaderboard.releases.selectors.of_others import TITLE

# Section to the keys shown first, under shorter names; None shows all of them.
_FIRST: dict[str, dict[str, str] | None] = {
    TITLE: None,
    "Results": None,
    "Human evaluation design": {
        "questions, verbatim": "question",
        "design": "design",
        "scale": "scale",
        "answer options": "answers",
    },
    "Outputs rated": {
        "rated instances": "instances rated",
        "instances in the test set": "of the test set",
        "ratings per output": "ratings per output",
    },
    "Workers and pay": {
        "platform": "platform",
        "workers": "workers",
        "assignments": "assignments",
        "reward per assignment, US dollars": "reward, US dollars",
        "hourly pay at that pace, US dollars": "an hour, US dollars",
        "started": "started",
        "finished": "finished",
    },
    "Quality control": {
        "test questions answered": "test questions answered",
        "answered incorrectly": "answered incorrectly",
        "excluded workers": "excluded workers",
        "assignments reassigned": "assignments reassigned",
        "assignments rejected": "assignments rejected",
    },
    "System and data": {
        "task": "task",
        "team": "team",
        "languages": "languages",
        "licence of the data": "licence of the data",
        "submitted on": "submitted on",
    },
    "Automatic metrics": None,
    JUDGES: None,
}
# A paragraph each; they stand below, unfolded.
_LONG = ("ranking rule", "blinding, measured")
# More would not fit on a screen, or a sheet of paper.
_MOST_LINES = 7
_LONGEST = 160


def brief(card: Card) -> list[tuple[str, list[tuple[str, str]]]]:
    """Give the sections with the lines shown first, in words."""
    shown = []
    for title, keys in _FIRST.items():
        lines = _lines(card.get(title, []), keys)[:_MOST_LINES]
        if lines:
            shown.append((title, lines))
    return shown


def _lines(section: Section, keys: dict[str, str] | None) -> list[tuple[str, str]]:
    if keys is None:
        return [(key, _value(v)) for key, v in section if key not in _LONG]
    found = dict(section)
    return [
        (name, _cut(_value(found[key])))
        for key, name in keys.items()
        if found.get(key) not in (None, "")
    ]


def _value(value: Any) -> str:
    """Say a score or a metric in one number with its interval, all else in words."""
    if isinstance(value, list) and len(value) == 2 and value[0] == value[1]:
        return str(value[0])  # a range of one rank
    if not isinstance(value, dict):
        return _cut(in_words(value))
    if "prompt (SHA-256)" in value:
        return _judge(value)
    if "mean" in value:
        text = f"{value['mean']:.1f} [{value['low']:.1f}, {value['high']:.1f}]"
        return f"{text}, provisional" if value["provisional"] else text
    if "signature" in value:
        return f"{value['value']:.4g}"
    return "; ".join(str(part) for part in value.values())


def _judge(value: dict[str, Any]) -> str:
    n, n_invalid = value["questions about this system"], value["without a valid answer"]
    return (
        f"{', '.join(value['answered as']) or value['model']}: {n:,} answers, "
        f"{n_invalid:,} not valid; licence: {in_words(value['licence'])}; prompt "
        f"{value['prompt (SHA-256)'][:12]}"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…"
