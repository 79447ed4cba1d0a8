"""Judges, such as language models: files of labels and facts, results as sheets and JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.sources import sources_in
from leaderboard.stats.judges.validation import AlternativeAnnotator, Label, Reason
from leaderboard.table_stats.report import Sheet

# Files of labels by people and judges, and each judge's alternative annotator test.
Labels = dict[str, dict[str, Label]]


def read_labels(path: Path) -> Labels:
    """Read a JSON object by rater, then instance, of labels: AltTest's format.

    Raises "bad-labels", and the errors of a file that is no text.
    """
    (file,) = sources_in(path)
    try:
        content: Labels = json.loads("".join(file.lines()))
        cells = [label for labels in content.values() for label in labels.values()]
    except (ValueError, RecursionError, AttributeError):
        cells = []
    wrong = [one for one in cells if isinstance(one, bool | list | dict | None)]
    if wrong or not cells:
        raise GenieError(
            f"{path.name} must be a JSON object that maps each rater to an object "
            f"from instance to text or number{f', not {wrong[0]}' if wrong else ''}.",
            code="bad-labels",
        )
    return content


def sheet(found: Mapping[str, AlternativeAnnotator], note: str) -> Sheet:
    rows = tuple(
        (
            name,
            f"{one.winning_rate:.2f}",
            f"{one.advantage_probability:.2f}",
            "yes" if one.passes else "no",
            f"{len(one.people)}",
            f"{one.n_skipped}",
        )
        for name, one in found.items()
    )
    header = ("judge", "winning rate", "advantage", "passed", "people", "skipped")
    notes = (
        note,
        "Winning rate: share of people whom the judge can replace (one-sided t-tests, "
        "Benjamini-Yekutieli), passed at .5 or more. Advantage: how often the judge "
        "agrees with the other people at least as well as the person.",
    )
    return Sheet("Alternative annotator test", header, rows, notes)


def document(found: Mapping[str, AlternativeAnnotator]) -> dict[str, Any]:
    return {
        name: {
            "winning_rate": one.winning_rate if one.people else None,
            "advantage_probability": one.advantage_probability if one.people else None,
            "passed": one.passes,
            "n_skipped": one.n_skipped,
            "people": [vars(person) for person in one.people],
        }
        for name, one in found.items()
    }


def license_sheet(found: Mapping[str, list[Reason]]) -> Sheet:
    rows = [
        (name, state_of(reasons), one.name, "yes" if one.holds else "no", one.words)
        for name, reasons in found.items()
        for one in reasons
    ]
    note = (
        "A license requires every line to hold. It does not cover other tasks, "
        "criteria, crowds or biases that were not checked. Intervals cover people and "
        "instances."
    )
    header = ("judge", "licence", "reason", "holds", "figures")
    return Sheet("Licenses", header, tuple(rows), (note,))


def state_of(reasons: list[Reason]) -> str:
    return "licensed" if all(one.holds for one in reasons) else "not licensed"
