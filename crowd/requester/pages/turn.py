from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from crowd.elsewhere.pages import for_workers
from crowd.requester.models import RequesterAssignment
from crowd.requester.pages.fields import form_parts
from crowd.requester.pages.frame import frame_address, is_open, sandbox_of
from crowd.requester.pages.origin import admit
from crowd.requester.protocol import clock
from crowd.requester.questions.answers import form_answer_xml
from crowd.requester.questions.question_form import read_form
from crowd.requester.questions.questions import read_answers, read_question
from crowd.requester.services import offers, turns
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or

State = RequesterAssignment.State


@for_workers
def turn(request: HttpRequest, worker: Worker, entity_id: str) -> HttpResponse:
    assignment = _mine(worker, entity_id)
    if not is_open(assignment):
        return _over(request, worker, assignment)
    if request.method == "POST":
        return _take(request, worker, assignment)
    return _page(request, assignment)


@post_or("work:requests")
@for_workers
def give_back(request: HttpRequest, worker: Worker, entity_id: str) -> HttpResponse:
    if turns.give_back(_mine(worker, entity_id), worker):
        messages.info(
            request,
            "Returned. Another worker can do it. This does not count against you.",
        )
    return redirect("work:requests")


def _take(
    request: HttpRequest, worker: Worker, assignment: RequesterAssignment
) -> HttpResponse:
    question = read_question(assignment.hit.question)
    if question.kind != "form":
        # Without scripts, the worker says that it was submitted although nothing has
        # come.
        messages.warning(request, "Nothing has been submitted yet.")
        return redirect("work:turn", assignment.entity_id)
    filled = read_answers(read_form(assignment.hit.question), request.POST.getlist)
    if filled.errors:
        return _page(request, assignment, filled.errors)
    try:
        turns.send_in(assignment, worker, form_answer_xml(filled.answers))
    except GenieError as error:
        messages.warning(request, error.message)
    return redirect("work:turn", assignment.entity_id)


def _page(
    request: HttpRequest,
    assignment: RequesterAssignment,
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    question = read_question(assignment.hit.question)
    left = (assignment.deadline_at - clock.now()).total_seconds()
    context: dict[str, Any] = {
        "here": "requests",
        "assignment": assignment,
        "hit_type": assignment.hit.hit_type,
        "question": question,
        "seconds_left": max(0, round(left)),
    }
    if question.kind == "form":
        form = read_form(assignment.hit.question)
        context["parts"] = form_parts(form, request.POST.getlist, errors)
        context["n_errors"] = len(errors or {})
    else:
        context["frame"] = frame_address(request, question, assignment.hit, assignment)
        context["sandbox"] = sandbox_of(request, question)
    status = 422 if errors else None
    page = "worker_site/requester/turn.html"
    return admit(render(request, page, context, status=status), question)


def _over(
    request: HttpRequest, worker: Worker, assignment: RequesterAssignment
) -> HttpResponse:
    hit_type = assignment.hit.hit_type
    context = {
        "here": "requests",
        "assignment": assignment,
        "hit_type": hit_type,
        "more": offers.group(worker, hit_type.group_id, clock.now()),
    }
    return render(request, "worker_site/requester/over.html", context)


def _mine(worker: Worker, entity_id: str) -> RequesterAssignment:
    assignment = (
        RequesterAssignment.objects.filter(entity_id=entity_id, worker__worker=worker)
        .select_related("hit__hit_type__requester", "worker")
        .first()
    )
    if assignment is None:
        raise Http404("This HIT is not assigned to you.")
    return assignment
