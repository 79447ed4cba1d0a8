from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from crowd import hit_templates
from crowd.hits.models import HITType
from crowd.hits.services.build import HITTypeSpec, shared_hit_type
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.selectors.test_wording import find_untranslated
from crowd.workers.services.known_answers import CHOICE
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.unguessable import seed_for

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = QualificationTest.State
RULES = ("n_asked", "pass_percent", "n_tries", "wait_hours", "valid_days")


def seed_of(name: str, version: int) -> int:
    """Return the seed of a test's version, derived from the site's secret key."""
    return seed_for("qualification test", name, version)


def next_version(name: str) -> int:
    newest = QualificationTest.objects.filter(name=name).aggregate(n=Max("version"))
    return (newest["n"] or 0) + 1


@transaction.atomic
def draft(
    test: QualificationTest,
    questions: Sequence[QualificationQuestion],
    hit_type: HITTypeSpec | None = None,
) -> QualificationTest:
    """Store the next version of a test; drawn questions need their kind of work."""
    if hit_type is not None:
        template = hit_templates.get(hit_type.template)
        for question in questions:
            template.check(question.data or {})
        test.hit_type = shared_hit_type(hit_type)
    test.title = test.title[:128]
    test.version = next_version(test.name)
    test.seed = seed_of(test.name, test.version)
    test.save()
    for position, question in enumerate(questions):
        question.test, question.position = test, position
    QualificationQuestion.objects.bulk_create(questions)
    return test


@transaction.atomic
def publish(test_pk: int, by: AbstractBaseUser | None = None, why: str = "") -> bool:
    """Publish a draft and retire the version before it; False if it was no draft.

    Raises
    ------
    GenieError
        ``unusable-test`` if a question or the number to ask is unusable.
    """
    test = QualificationTest.objects.select_for_update(of=("self",)).get(pk=test_pk)
    if test.state != State.DRAFT:
        return False
    _check(test)
    # The constraint allows one published version, so the old one is retired first.
    QualificationTest.objects.filter(name=test.name, state=State.PUBLISHED).update(
        state=State.RETIRED
    )
    QualificationTest.objects.filter(pk=test_pk).update(
        state=State.PUBLISHED, published_at=timezone.now()
    )
    note(by, test, "Published.", why)
    return True


def _check(test: QualificationTest) -> None:
    questions = list(test.questions.all())
    if not questions:
        raise _unusable(test, "it has no questions")
    if test.n_asked > len(questions):
        raise _unusable(
            test, f"it asks {test.n_asked} questions but has only {len(questions)}"
        )
    for question in questions:
        if problem := problem_of(question, test.hit_type):
            raise _unusable(test, f"question {question.position + 1} {problem}")
    others = {*test.translations, *(one for q in questions for one in q.translations)}
    for language in sorted(others):
        if lacks := find_untranslated(test, questions, language):
            raise _unusable(test, f"it does not say {lacks} in the language {language}")


def problem_of(question: QualificationQuestion, hit_type: HITType | None) -> str:
    """Return why a question is unusable; empty if it can be asked and marked."""
    if question.data is not None:
        return "" if hit_type else "was drawn for another kind of work"
    if not question.text.strip():
        return "has no text"
    if len(question.answers) < 2:
        return "needs at least two answers, one per line"
    if len(set(question.answers)) < len(question.answers):
        return "has the same answer twice"
    right = question.expected.get(CHOICE)
    if not isinstance(right, int) or not 0 <= right < len(question.answers):
        return "does not say which of its answers is right"
    return ""


def retire(test_pk: int, by: AbstractBaseUser | None = None, why: str = "") -> bool:
    with transaction.atomic():
        retired = QualificationTest.objects.filter(
            pk=test_pk, state__in=[State.DRAFT, State.PUBLISHED]
        ).update(state=State.RETIRED)
        if retired:
            note(by, QualificationTest.objects.get(pk=test_pk), "Retired.", why)
    return bool(retired)


@transaction.atomic
def new_version(
    test_pk: int, by: AbstractBaseUser | None = None, why: str = ""
) -> QualificationTest:
    old = QualificationTest.objects.get(pk=test_pk)
    version = next_version(old.name)
    new = QualificationTest.objects.create(
        name=old.name,
        version=version,
        pool_id=old.pool_id,
        title=old.title,
        introduction=old.introduction,
        translations=old.translations,
        hit_type=old.hit_type,
        seed=seed_of(old.name, version),
        **{rule: getattr(old, rule) for rule in RULES},
    )
    for question in old.questions.order_by("position", "pk"):
        # Without this Django would update the question of the old version.
        question.pk, question.test = None, new
        question._state.adding = True
        question.save()
    note(by, new, f"Copied from version {old.version}.", why)
    return new


def _unusable(test: QualificationTest, problem: str) -> GenieError:
    return GenieError(f"{test.title} cannot be used: {problem}.", code="unusable-test")
