"""Details of an import that a person adds to its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaderboard.imports.readers.judgments import Judgments

from crowd.hits.models import ELSEWHERE
from genie.lib.unguessable import name_for
from leaderboard.evaluation.estimates import NOBODY

# The platform of imported work: work can never be sent to it.
PLATFORM = ELSEWHERE


def told_by_rows(judgments: Judgments) -> dict[str, str]:
    """Return the details of how people were asked that rows have: period and time."""
    told, judged = {}, judgments.judged
    at, seconds = judged["at"].dropna(), judged["seconds"].dropna()
    if len(at):
        days = [datetime.fromtimestamp(one, UTC).date() for one in (at.min(), at.max())]
        told["period"] = " to ".join(f"{day}" for day in dict.fromkeys(days))
    if len(seconds):
        told["time"] = f"a median of {seconds.median():.0f} s, as the files count it"
    return told


@dataclass(frozen=True)
class About:
    """Details of an import.

    An empty `title` is the slug, and an existing task keeps its title. `known` has
    details of how people were asked, by the keys of
    `tasks.selectors.made_elsewhere.ASKED` or others. `choices` are answers to the
    reader's questions, `questions` map a criterion to the question that people read,
    and `scales` to its scale, such as "1 to 5"; "*" is every criterion.
    """

    title: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)


#: Prefix of stand-in workers for rows without a worker; no file has this character.
UNKNOWN = "\0"


def platform_worker_id(slug: str, name: str) -> str:
    """Return a pseudonymous worker id from which the name cannot be recovered.

    The same name in two imports of a task is the same person.
    """
    if name.startswith(UNKNOWN):
        return NOBODY + name_for("imported and unknown", slug, name)
    return name_for("imported worker", slug, name)
