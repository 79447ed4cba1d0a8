import copy
from collections.abc import Sequence

from django.utils.translation import get_language

from crowd.hit_templates.consent import ENGLISH
from crowd.hits.models import HITType
from crowd.hits.selectors import (
    language_for,
    language_written,
    translate_hit_type,
    wording_in,
)
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)

# The translatable fields of a question.
WORDS = ("text", "choices", "explanation")


def language_for_test(test: QualificationTest) -> str:
    wanted = get_language() or ""
    questions = list(test.questions.all())
    for language in (wanted, wanted.partition("-")[0]):
        if language and not find_untranslated(test, questions, language):
            return language
    return _source_language(test)


def find_untranslated(
    test: QualificationTest, questions: Sequence[QualificationQuestion], language: str
) -> str:
    """Return what of a test is not translated; empty if all of it is."""
    if language == _source_language(test):
        return ""
    said = test.translations.get(language, {})
    drawn = [question.data for question in questions if question.data is not None]
    # The title of a drawn test can be that of its work.
    if not said.get("title") and (test.hit_type is None or len(drawn) < len(questions)):
        return "the title"
    if test.introduction and not said.get("introduction"):
        return "the introduction"
    kind = test.hit_type
    if drawn and kind is not None and language_for(kind, language, drawn) != language:
        return "the questions of its work"
    for question in questions:
        if question.data is None and not is_said(question, language):
            return f"question {question.position + 1} with all its answers"
    return ""


def is_said(question: QualificationQuestion, language: str) -> bool:
    said = question.translations.get(language)
    if not isinstance(said, dict) or not str(said.get("text", "")).strip():
        return False
    answers = question_in(question, language).answers
    return len(answers) == len({*answers}) == len(question.answers) and (
        not question.explanation or bool(said.get("explanation"))
    )


def question_in(
    question: QualificationQuestion, language: str
) -> QualificationQuestion:
    """Return a question in a language, to be shown and never stored."""
    said = question.translations.get(language, {})
    shown = copy.copy(question)
    for name in WORDS:
        if name in said:
            setattr(shown, name, str(said[name]))
    return shown


def test_in(test: QualificationTest, language: str) -> QualificationTest:
    """Return a test in a language, to be shown and never stored."""
    shown = copy.copy(test)
    if language == _source_language(test):
        return shown
    said = test.translations.get(language, {})
    title = wording_in(test.hit_type, language).title if test.hit_type else test.title
    shown.title = said.get("title", title)
    shown.introduction = said.get("introduction", test.introduction)
    return shown


def hit_type_in(test: QualificationTest, language: str) -> HITType | None:
    if test.hit_type is None or not language:
        return test.hit_type
    return translate_hit_type(test.hit_type, language)


def _source_language(test: QualificationTest) -> str:
    return language_written(test.hit_type) if test.hit_type else ENGLISH
