"""Whether what a task says in other languages is all that a page needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crowd.hit_templates.words import LANGUAGE
from crowd.hits.selectors.wording import CHECKED, SCALE, wording
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.config.kinds import Problem
from leaderboard.tasks.services.configuration import hit_type_for

_LONGEST = 16


def problems(
    table: str, human: HumanConfig, labels: Iterable[str]
) -> Iterator[Problem]:
    """Say what is missing of each language that a task names, and what there is too much."""
    hit_type = hit_type_for("", "", human, human.criteria)
    for language, words in human.languages.items():
        key = f"{table}.languages.{language}"
        if not re.fullmatch(LANGUAGE, language) or len(language) > _LONGEST:
            yield Problem(key, "is no code of a language, such as de or zh-hans.")
            continue
        if language == human.language:
            yield Problem(key, f"is the language that [{table}] is written in.")
            continue
        for missing in wording(hit_type, language, labels).missing:
            if missing in (SCALE, CHECKED):
                what = f"scale {human.scale}" if missing == SCALE else "checkboxes"
                yield Problem(key, f"cannot be: there is no {what} in it.")
                continue
            yield Problem(
                f"{key}.{missing}",
                "is missing: all that a page says must be there in each language, here "
                f"or in the HIT template {human.hit_template}.",
            )
        for criterion in sorted({*words.questions} - {*human.criteria}):
            yield Problem(f"{key}.questions.{criterion}", "is not asked.")
        for label in sorted({*words.labels} - {*labels}):
            yield Problem(f"{key}.labels.{label}", "is the label of no field.")
        if words.consent and not human.consent:
            yield Problem(
                f"{key}.consent",
                f"translates nothing: [{table}] has no consent of its own.",
            )
