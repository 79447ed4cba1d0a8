"""Judges' licenses as a sheet and JSON, and the facts on which they were granted."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.stats.judges.licence import Licence
from leaderboard.table_stats.report import Sheet


def facts_of(pairs: Sequence[str]) -> dict[str, str]:
    """Read facts written as NAME=VALUE.

    Raises
    ------
    GenieError
        For a fact without a name or without `=`.
    """
    facts = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise GenieError(f"{pair!r} is not NAME=VALUE.", code="bad-fact")
        facts[name] = value
    return facts


def read_given(path: Path) -> dict[str, dict[str, str]]:
    """Read, by judge, the facts on which its license was granted; empty without a license.

    Raises
    ------
    GenieError
        If no command wrote the file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(name): {str(key): str(value) for key, value in one["facts"].items()}
            for name, one in content.items()
            if one["licence"] == "licensed"
        }
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise GenieError(
            f"{path.name} holds no licences as --json writes them.", code="bad-licence"
        ) from error


def licence_sheet(found: Mapping[str, Licence]) -> Sheet:
    rows = []
    for name, licence in found.items():
        rows += [
            (name, licence.state, one.name, "yes" if one.holds else "no", one.words)
            for one in licence.reasons
        ]
        rows += [(name, licence.state, "facts", "no", one) for one in licence.moved]
    note = (
        "A licence needs every line to hold. It says nothing of other tasks, criteria or "
        "crowds, nor of biases that were not looked for. Intervals cover people and "
        "instances."
    )
    header = ("judge", "licence", "reason", "holds", "figures")
    return Sheet("Licences", header, tuple(rows), (note,))


def licence_document(found: Mapping[str, Licence]) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "licence": one.state,
            "reasons": [vars(reason) for reason in one.reasons],
            "moved": one.moved,
        }
        for name, one in found.items()
    }
