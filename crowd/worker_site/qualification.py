from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from crowd.elsewhere.pages import for_workers, wants_json
from crowd.worker_site.language import in_its_language, mark_language, spoken
from crowd.workers.hit_form import Shown, sent_to_question, shown_question
from crowd.workers.models.qualification_attempt import AttemptAnswer, TestAttempt
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import consented_pools, open_pools
from crowd.workers.selectors.requirements import TestStanding, standings_of
from crowd.workers.selectors.test_wording import (
    hit_type_in,
    language_for_test,
    question_in,
    test_in,
)
from crowd.workers.services import test_attempts
from genie.lib.errors import GenieError

# Errors that can be fixed on the page.
MENDABLE = {"answer-missing", "not-on-the-scale", "unknown-question", "unusable-spans"}


@for_workers
def test(request: HttpRequest, worker: Worker, name: str) -> HttpResponse:
    standing = _test_standing(worker, name)
    pool = standing.test.pool_id
    if pool not in consented_pools(worker, [pool]):
        return redirect("work:consent", pool=pool)
    refusal = ""
    if request.method == "POST":
        try:
            attempt = test_attempts.start(worker, name)
        except GenieError as error:
            refusal = error.message
        else:
            return redirect("work:attempt", pk=attempt.pk)
    language = language_for_test(standing.test)
    context = {
        "standing": standing,
        "test": test_in(standing.test, language),
        "n_questions": standing.test.n_asked or standing.test.questions.count(),
        "refusal": refusal,
        "explained": pool in open_pools(worker),
    }
    status = 409 if refusal else None
    with spoken(language):
        page = render(request, "worker_site/test.html", context, status=status)
    return mark_language(page, language)


@for_workers
def attempt(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    attempt = (
        TestAttempt.objects.filter(pk=pk, worker=worker)
        .select_related("test__hit_type")
        .first()
    )
    if attempt is None:
        raise Http404(_("You have not started this test."))
    if request.method == "POST":
        return _take(request, worker, attempt)
    return _page(request, attempt)


def _take(request: HttpRequest, worker: Worker, attempt: TestAttempt) -> HttpResponse:
    address = reverse("work:attempt", args=[attempt.pk])
    row = _sent_row(request, attempt)
    if row is None:
        raise Http404(_("This test has no such question."))
    raw_answers = sent_to_question(
        row.question, attempt.test.hit_type, request.POST.dict()
    )
    try:
        test_attempts.answer(
            attempt_pk=attempt.pk,
            worker=worker,
            position=row.position,
            raw_answers=raw_answers,
        )
    except GenieError as error:
        return _refuse(request, attempt, error, address)
    return JsonResponse({"next": address}) if wants_json(request) else redirect(address)


def _sent_row(request: HttpRequest, attempt: TestAttempt) -> AttemptAnswer | None:
    sent = request.POST.get("position", "")
    if not (sent.isascii() and sent.isdigit() and len(sent) < 5):
        return None
    return attempt.answers.select_related("question").filter(position=int(sent)).first()


def _refuse(
    request: HttpRequest, attempt: TestAttempt, error: GenieError, address: str
) -> HttpResponse:
    mendable = error.code in MENDABLE
    if wants_json(request):
        return JsonResponse(
            {"error": error.message, "final": not mendable, "next": address},
            status=422 if mendable else 409,
        )
    if mendable:
        return _page(request, attempt, error.message)
    return redirect(address)


@in_its_language
def _page(request: HttpRequest, attempt: TestAttempt, error: str = "") -> HttpResponse:
    rows = list(attempt.answers.select_related("question"))
    waiting = [row for row in rows if row.answered_at is None]
    if not waiting:
        return _result(request, attempt)
    row = waiting[0]
    shown = shown_question(
        question_in(row.question, attempt.language),
        hit_type_in(attempt.test, attempt.language),
        request.POST.dict(),
    )
    context: dict[str, Any] = {
        "attempt_pk": attempt.pk,
        "title": test_in(attempt.test, attempt.language).title,
        "pool": attempt.test.pool_id,
        "explained": attempt.test.pool_id in open_pools(attempt.worker),
        "position": row.position,
        "n_asked": len(rows),
        "item": shown if isinstance(shown, Shown) else None,
        "written": None if isinstance(shown, Shown) else shown,
        "error": error,
    }
    status = 422 if error else None
    return render(request, "worker_site/attempt.html", context, status=status)


def _result(request: HttpRequest, attempt: TestAttempt) -> HttpResponse:
    """Show how many answers were right, and explanations of wrong ones, never which.

    Without an author's explanation, none is shown.
    """
    attempt.refresh_from_db()
    standing = standings_of(attempt.worker, [attempt.test.name], timezone.now())
    wrong = attempt.answers.filter(right=False).exclude(question__explanation="")
    questions = [
        question_in(row.question, attempt.language)
        for row in wrong.select_related("question")
    ]
    context = {
        "test": test_in(attempt.test, attempt.language),
        "n_right": attempt.n_right,
        "n_asked": attempt.answers.count(),
        "explanations": sorted({question.explanation for question in questions}),
        "passed": attempt.passed,
        "explained": attempt.test.pool_id in open_pools(attempt.worker),
        "standing": standing.get(attempt.test.name),
    }
    return render(request, "worker_site/test_result.html", context)


def _test_standing(worker: Worker, name: str) -> TestStanding:
    standing = standings_of(worker, [name], timezone.now()).get(name)
    if standing is None or test_attempts.is_closed_to(worker, standing.test.pool_id):
        raise Http404(_("There is no such test for you at the moment."))
    return standing
