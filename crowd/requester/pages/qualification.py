from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from crowd.elsewhere.pages import for_workers
from crowd.requester.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from crowd.requester.pages.fields import form_parts
from crowd.requester.pages.origin import admit
from crowd.requester.protocol import clock
from crowd.requester.questions.question_form import read_form
from crowd.requester.questions.questions import Question, read_answers
from crowd.requester.services import qualification_requests
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError

State = QualificationRequest.State


@for_workers
def qualification(request: HttpRequest, worker: Worker, entity_id: str) -> HttpResponse:
    qualification_type = _kind(entity_id)
    if request.method == "POST":
        return _ask(request, worker, qualification_type)
    held = Qualification.objects.filter(
        qualification_type=qualification_type, worker__worker=worker, granted=True
    )
    context = {
        "here": "requests",
        "kind": qualification_type,
        "mine": held.first(),
        "hindrance": qualification_requests.hindrance(
            qualification_type, worker, clock.now()
        ),
    }
    return render(request, "worker_site/requester/qualification.html", context)


@for_workers
def test(request: HttpRequest, worker: Worker, entity_id: str) -> HttpResponse:
    attempt = _mine(worker, entity_id)
    qualification_type = attempt.qualification_type
    if attempt.state != State.STARTED:
        return redirect("work:requester-qualification", qualification_type.entity_id)
    form = read_form(qualification_type.test, "Test")
    errors: dict[str, str] = {}
    if request.method == "POST":
        filled = read_answers(form, request.POST.getlist)
        errors = filled.errors
        if not errors:
            return _hand_in(request, worker, attempt, filled.answers)
    deadline = attempt.deadline_at or clock.now()
    context: dict[str, Any] = {
        "here": "requests",
        "kind": qualification_type,
        "attempt": attempt,
        "parts": form_parts(form, request.POST.getlist, errors),
        "n_errors": len(errors),
        "seconds_left": max(0, round((deadline - clock.now()).total_seconds())),
    }
    status = 422 if errors else None
    page = "worker_site/requester/test.html"
    response = render(request, page, context, status=status)
    return admit(response, Question("form", qualification_type.test, 0))


def _ask(
    request: HttpRequest, worker: Worker, qualification_type: QualificationType
) -> HttpResponse:
    try:
        new_request = qualification_requests.ask(qualification_type, worker)
    except GenieError as error:
        messages.warning(request, error.message)
        return redirect("work:requester-qualification", qualification_type.entity_id)
    if new_request.state == State.STARTED:
        return redirect("work:requester-test", new_request.entity_id)
    granted = new_request.state == State.GRANTED
    sentence = (
        "Qualification granted."
        if granted
        else ("Requested. The requester will decide.")
    )
    messages.success(request, sentence)
    return redirect("work:requester-qualification", qualification_type.entity_id)


def _hand_in(
    request: HttpRequest, worker: Worker, attempt: QualificationRequest, answers: Any
) -> HttpResponse:
    try:
        done = qualification_requests.send_test(attempt, worker, answers)
    except GenieError as error:
        messages.warning(request, error.message)
    else:
        graded = done.state == State.GRANTED
        sentence = (
            "Submitted and graded."
            if graded
            else "Submitted. The requester will decide."
        )
        messages.success(request, sentence)
    return redirect(
        "work:requester-qualification", attempt.qualification_type.entity_id
    )


def _kind(entity_id: str) -> QualificationType:
    qualification_type = (
        QualificationType.objects.filter(entity_id=entity_id, disposed_at=None)
        .select_related("requester")
        .first()
    )
    if qualification_type is None:
        raise Http404("There is no such qualification.")
    return qualification_type


def _mine(worker: Worker, entity_id: str) -> QualificationRequest:
    attempt = (
        QualificationRequest.objects.filter(entity_id=entity_id, worker__worker=worker)
        .select_related("qualification_type__requester", "worker")
        .first()
    )
    if attempt is None:
        raise Http404("You have not started this test.")
    return attempt
