"""Qualification tests in plain text: a question, its answers, the right one marked."""

import re
from collections.abc import Sequence

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.services import qualification_tests
from crowd.workers.services.known_answers import CHOICE
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.tasks.models import Task

NONE, DRAWN, NAMED, WRITTEN = "", "drawn", "named", "written"
_ANSWER = re.compile(r"([-*])\s+(.*\S)")
_SECTION = re.compile(r"^\[([a-z-]+)\]\s*$", re.MULTILINE)
_EXPLAINS = ">"
MOST_QUESTIONS = 50


def read(text: str) -> list[QualificationQuestion]:
    r"""Read questions separated by empty lines.

    Below a line such as ``[de]`` the same questions follow in another language, in the
    same order and with their answers in the same order.

    Raises ``unusable-test`` with the first problem and its question.
    """
    first, *rest = _SECTION.split(text)
    questions = _questions(first)
    for language, section in zip(rest[::2], rest[1::2], strict=True):
        if language not in dict(settings.LANGUAGES):
            raise _wrong(f"[{language}] is not a language of this site")
        said = _questions(section, f" in [{language}]", marked=False)
        if [len(one.answers) for one in said] != [len(q.answers) for q in questions]:
            raise _wrong(f"[{language}] needs the same questions, with as many answers")
        for question, one in zip(questions, said, strict=True):
            words = {"text": one.text, "choices": one.choices}
            if one.explanation:
                words["explanation"] = one.explanation
            question.translations[language] = words
    return questions


def _questions(
    text: str, of: str = "", *, marked: bool = True
) -> list[QualificationQuestion]:
    blocks = [block for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    if not 0 < len(blocks) <= MOST_QUESTIONS:
        raise _wrong(f"it needs 1 to {MOST_QUESTIONS} questions{of}")
    return [
        _question(f"{number}{of}", block, marked=marked)
        for number, block in enumerate(blocks, 1)
    ]


def _question(number: str, block: str, *, marked: bool) -> QualificationQuestion:
    all_lines = [line.strip() for line in block.splitlines()]
    lines = [line for line in all_lines if not line.startswith(_EXPLAINS)]
    why = " ".join(
        line.removeprefix(_EXPLAINS).strip()
        for line in all_lines
        if line.startswith(_EXPLAINS)
    )
    found = [_ANSWER.fullmatch(line) for line in lines]
    answers = [match for match in found if match]
    words = [line for line, match in zip(lines, found, strict=True) if not match]
    texts = [match[2] for match in answers]
    right = [place for place, match in enumerate(answers) if match[1] == "*"]
    problems = (
        (not words, "has no text above its answers"),
        (len(" ".join(words)) > 4000, "is longer than 4,000 characters"),
        (
            len(texts) < 2,
            "needs two answers or more, each on a line that begins with -",
        ),
        (len(set(texts)) < len(texts), "has the same answer twice"),
        (
            marked and len(right) != 1,
            "needs one right answer, on a line that begins with *",
        ),
        (sum(map(len, texts)) > 1900, "has answers that are too long"),
        (len(why) > 1000, "has an explanation of more than 1,000 characters"),
    )
    for wrong, sentence in problems:
        if wrong:
            raise _wrong(f"question {number} {sentence}")
    return QualificationQuestion(
        text="\n".join(words),
        choices="\n".join(texts),
        expected={CHOICE: right[0] if right else 0},
        explanation=why,
    )


def _wrong(sentence: str) -> GenieError:
    return GenieError(f"The test cannot be used: {sentence}.", code="unusable-test")


def publish(
    task: Task,
    questions: Sequence[QualificationQuestion],
    pass_percent: int,
    *,
    by: Account,
) -> None:
    """Put a task's test into use: its campaigns require the test by its name."""
    languages = {name for question in questions for name in question.translations}
    test = QualificationTest(
        name=task.slug,
        pool_id=task.slug,
        title=f"A short test: {task.title}",
        translations={
            name: {"title": _title(task, name)} for name in sorted(languages)
        },
        pass_percent=pass_percent,
    )
    qualification_tests.publish(qualification_tests.draft(test, questions).pk, by)


def _title(task: Task, language: str) -> str:
    with translation.override(language):
        return gettext("A short test: %(task)s") % {"task": task.title}


def in_use() -> list[tuple[str, str]]:
    rows = QualificationTest.objects.filter(state=QualificationTest.State.PUBLISHED)
    return [(row.name, str(row)) for row in rows.order_by("name")]
