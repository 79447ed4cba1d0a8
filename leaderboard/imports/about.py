"""What a person says of files of judgments, beside what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaderboard.imports.readers.judgments import Judgments

from crowd.hits.models.campaign import ELSEWHERE
from genie.lib.unguessable import name_for
from leaderboard.evaluation.estimates import NOBODY

# Where imported work was done: no platform of ours, so that nobody can be sent there.
PLATFORM = ELSEWHERE


def told_by_rows(judgments: Judgments) -> dict[str, str]:
    """Give what rows themselves tell of how people were asked: when, and how long."""
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
    """What is said of an import.

    Parameters
    ----------
    title : str
        Of the task; empty: its slug. Of a task that is there already it stays.
    source, licence, citation : str
        From where the files are, on which terms, and how they are cited.
    known : mapping of str to str
        What is known of how people were asked, by the names of
        `tasks.selectors.made_elsewhere.ASKED` or others.
    choices : mapping of str to str
        What was said to the reader of the files.
    questions : mapping of str to str
        Criterion to what people read.
    scales : mapping of str to str
        Criterion to the scale that it was answered on, such as "1 to 5"; "*" stands for
        every criterion.
    """

    title: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)


#: Begins what stands for the worker of a row that names none; no file has this character.
UNKNOWN = "\0"


def platform_worker_id(slug: str, name: str) -> str:
    """Name a person of a task's files so that nobody finds their name again.

    The same name in two imports of a task is the same person.
    """
    if name.startswith(UNKNOWN):
        return NOBODY + name_for("imported and unknown", slug, name)
    return name_for("imported worker", slug, name)
