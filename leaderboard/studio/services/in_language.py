"""What a loaded task says in another language, line by line, to be edited."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from crowd.hits.selectors.wording import template_in, wording
from genie.lib.typing import Account
from leaderboard.studio.services.edit import table_of
from leaderboard.tasks.config import HumanConfig, LanguageConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import load
from leaderboard.tasks.services.configuration import hit_type_of

_TITLE = "title"
_QUESTION, _LABEL = "question: ", "label: "


@dataclass(frozen=True)
class Asked:
    """The lines of a page: what each says in the task's language, and what is said now."""

    # name of a field -> what the task says, and what its template says in the language
    lines: Mapping[str, tuple[str, str]]
    said: Mapping[str, str]


def asked(task: Task, language: str) -> Asked:
    """List what a worker would read, with what is said of it in a language."""
    human = _human(task)
    hit_type = hit_type_of(task, human, human.criteria)
    usual = wording(hit_type, language)
    labels = template_in(hit_type, language).labels
    own = human.languages.get(language)
    lines = {_TITLE: (hit_type.title, "" if own else usual.title)}
    for criterion, question in human.criteria.items():
        said = usual.criteria[criterion]
        lines[_QUESTION + criterion] = (question, said if said != question else "")
    for label in task.field_labels.values():
        lines[_LABEL + label] = (label, labels.get(label, ""))
    theirs = "" if human.instructions else "those of the HIT template, if it has them."
    lines["instructions"] = ("Instructions, in Markdown", theirs)
    if human.consent:
        lines["consent"] = ("What workers agree to, in Markdown", "")
    return Asked(lines, _said(own) if own else {})


def others(task: Task) -> list[tuple[str, str]]:
    """List the languages of the site that a task is not written in."""
    written = _human(task).language
    return [(code, name) for code, name in settings.LANGUAGES if code != written]


def spoken(task: Task) -> list[str]:
    """Name the languages in which all that a page says is there."""
    human, labels = _human(task), task.field_labels.values()
    hit_type = hit_type_of(task, human, human.criteria)
    return [
        code for code, _ in others(task) if not wording(hit_type, code, labels).missing
    ]


def _said(own: LanguageConfig) -> dict[str, str]:
    return {
        _TITLE: own.title,
        **{_QUESTION + name: text for name, text in own.questions.items()},
        **{_LABEL + name: text for name, text in own.labels.items()},
        "instructions": own.instructions,
        "consent": own.consent,
    }


def change(
    task: Task, language: str, said: Mapping[str, str], *, by: Account, because: str
) -> None:
    """Let a task say this in a language from now on; nothing at all takes it out.

    Raises
    ------
    GenieError
        ``unusable-task`` with what is missing.
    """
    words: dict[str, Any] = {}
    for name, text in said.items():
        table, _, key = name.partition(": ")
        if text and key:
            words.setdefault(f"{table}s", {})[key] = text
        elif text:
            words[name] = text
    document = copy.deepcopy(dict(task.config))
    languages = document.setdefault(table_of(task), {}).setdefault("languages", {})
    languages.pop(language, None)
    if words:
        languages[language] = words
    load.change(task, document, by=by, because=because)


def _human(task: Task) -> HumanConfig:
    config = task.configuration
    return config.comparison if table_of(task) == "comparison" else config.human
