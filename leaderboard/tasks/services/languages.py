"""Check whether a task's translations have everything that a page needs."""

import re
from collections.abc import Iterable, Iterator

from crowd.hit_templates.words import LANGUAGE
from crowd.hits.selectors.wording import CHECKED, SCALE, errors_named, wording
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.config.kinds import Problem
from leaderboard.tasks.services.configuration import hit_type_for

_LONGEST = 16
_NO_CODE = "is no code of a language, such as de or zh-hans."


def problems(
    table: str, human: HumanConfig, labels: Iterable[str]
) -> Iterator[Problem]:
    """Yield missing and superfluous texts of each language of a task."""
    if not _is_code(human.language):
        yield Problem(f"{table}.language", _NO_CODE)
        return
    hit_type = hit_type_for("", human, human.criteria)
    known = {*labels, *errors_named(hit_type)}
    for language, words in human.languages.items():
        key = f"{table}.languages.{language}"
        if not _is_code(language):
            yield Problem(key, _NO_CODE)
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
        for label in sorted({*words.labels} - known):
            yield Problem(f"{key}.labels.{label}", "is the label of no field.")
        if words.consent and not human.consent:
            yield Problem(
                f"{key}.consent",
                f"translates nothing: [{table}] has no consent of its own.",
            )


def _is_code(language: str) -> bool:
    return len(language) <= _LONGEST and bool(re.fullmatch(LANGUAGE, language))
