"""Cards and datasheets of imported ratings, without facts about this site's campaigns."""

from collections.abc import Mapping
from typing import Any

from leaderboard.releases.selectors import judges
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import MARK, Provenance, provenance_of

NOT_KNOWN = "not recorded (imported ratings)"
TITLE = MARK.capitalize()
# Section of a card -> the lines that apply to imported ratings, too; None: all of them
_KEPT: Mapping[str, frozenset[str] | None] = {
    "System and data": frozenset(
        [
            "system",
            "simulated",
            "task",
            "type of task",
            "languages",
            "license of the data",
            "release of the data (SHA-256)",
            "code version",
        ]
    ),
    "Outputs rated": frozenset(
        ["instances in the test set", "rated instances", "ratings per output"]
    ),
    "Human evaluation design": frozenset(
        ["design", "scale", "answer options", "questions, verbatim"]
    ),
    "Workers and pay": frozenset(["workers"]),
    "Results": None,
    "Automatic metrics": None,
    judges.TITLE: None,
}
# Question of the datasheet -> the answer for an import
_ANSWERED = {
    "3.2.2.1": "expertise",
    "3.2.2.2": "pay",
    "3.2.3": "recruitment",
    "3.2.4": "instructions",
    "3.3.2": "interface",
    "3.3.3.1": "screening",
    "3.3.3.2": "exclusions",
    "3.3.4.1": "instructions",
    "3.3.5": "period",
    "5.1": "ethics",
}
_NEVER = (
    *("3.1.2", "3.1.3.1", "3.1.3.2", "3.1.3.3", "3.2.2.3", "3.2.2.4", "3.2.5"),
    *("3.3.1", "3.3.4.2", "3.3.6", "3.3.7", "3.3.8", "5.2", "5.3", "5.4"),
)


def lines_of_others(
    card: Mapping[str, list[tuple[str, Any]]], task: Task
) -> dict[str, list[tuple[str, Any]]]:
    kept = {
        title: [
            (
                key,
                {name: text for name, text in value.items() if text != name} or None
                if key == "questions, verbatim"
                else value,
            )
            for key, value in card[title]
            if (keys is None or key in keys) and value != "und to und"
        ]
        for title, keys in _KEPT.items()
    }
    return {TITLE: _origins(provenance_of(task)), **kept}


def _origins(found: Provenance | None) -> list[tuple[str, Any]]:
    if found is None:
        return []
    lines: list[tuple[str, Any]] = []
    for number, one in enumerate(found.origins, 1):
        of = f" {number}" if len(found.origins) > 1 else ""
        lines += [
            (f"source{of}", one.source or None),
            (f"license{of}", one.licence or None),
            (f"citation{of}", one.citation or None),
            (f"imported on{of}", f"{one.imported_at:%Y-%m-%d}, as {one.layout}"),
            *((f"{question}{of}", said) for question, said in one.in_words),
        ]
    return [*lines, ("not known", found.unknown)] if found.unknown else lines


def answers_of_others(task: Task, n_workers: int) -> dict[str, str]:
    found = provenance_of(task)
    known = {
        key: said
        for one in (found.origins if found else ())
        for key, said in one.known.items()
    }
    return {
        **dict.fromkeys(_NEVER, NOT_KNOWN),
        **{number: known.get(key, NOT_KNOWN) for number, key in _ANSWERED.items()},
        "3.2.1": str(n_workers),
    }
