"""One HIT at a time: show it, take the answer, show the next one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowd.campaigns.services import work
from crowd.campaigns.services.claim import GRACE
from crowd.elsewhere.pages.access import for_workers, wants_json
from crowd.elsewhere.pages.visit import visit_of
from crowd.elsewhere.services import visits
from crowd.hits.models.assignment import Assignment
from crowd.hits.selectors.familiarity import is_of_another_kind
from crowd.hits.selectors.questions import form_of
from crowd.hits.services.signals import canary_word, read_signals
from crowd.money.selectors.earnings import earnings
from crowd.workers.hit_form import (
    REMARK_CHARACTERS,
    sent_answers,
    sent_seconds,
    shown_items,
)
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import in_turns_with
from crowd.workers.selectors.profiles import profile_of
from crowd.workers.selectors.worker_progress import worker_progress
from genie.lib.errors import GenieError

# What can be mended on the page; after any other refusal the work is over.
MENDABLE = {"answer-missing", "not-on-the-scale", "unknown-question", "unusable-spans"}


@require_POST
@for_workers
def next_hit(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Hand out the next HIT of a kind; the same one again while it is open."""
    return redirect(_next_address(request, worker, request.POST.get("pool") or None))


@for_workers
def hit(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """Show a HIT, or what became of it; take the answer."""
    assignment = _mine(worker, pk)
    if request.method == "POST":
        return _take(request, worker, assignment)
    if not _is_open(assignment):
        return _over(request, assignment)
    return _page(request, worker, assignment)


@require_POST
@for_workers
def give_back(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """Return a HIT without harm."""
    assignment = _mine(worker, pk)
    if work.give_back(assignment):
        messages.info(
            request,
            "Returned. Somebody else can do it; this does not count against you.",
        )
    return redirect("work:home")


def _take(request: HttpRequest, worker: Worker, assignment: Assignment) -> HttpResponse:
    try:
        work.submit(
            assignment,
            sent_answers(assignment, request.POST),
            active_seconds=sent_seconds(request.POST),
            remark=request.POST.get("remark", ""),
            signals=read_signals(assignment, request.POST),
        )
    except GenieError as error:
        return _refused(request, worker, assignment, error)
    address = _address_after(request, worker, assignment)
    return JsonResponse({"next": address}) if wants_json(request) else redirect(address)


def _refused(
    request: HttpRequest, worker: Worker, assignment: Assignment, error: GenieError
) -> HttpResponse:
    mendable = error.code in MENDABLE and _is_open(assignment)
    if wants_json(request):
        return JsonResponse(
            {
                "error": error.message,
                "final": not mendable,
                "next": reverse("work:hit", args=[assignment.pk]),
            },
            status=422 if mendable else 409,
        )
    if mendable:
        return _page(request, worker, assignment, error=error.message)
    assignment.refresh_from_db()
    return _over(request, assignment, sentence=error.message, status=409)


def _over(
    request: HttpRequest,
    assignment: Assignment,
    *,
    sentence: str = "",
    status: int = 200,
) -> HttpResponse:
    """Say what became of a HIT, and why there is no next one if there is none."""
    exclusion = Exclusion.objects.filter(
        worker=assignment.worker_id, pool=assignment.hit.campaign.pool
    ).first()
    context = {
        "assignment": assignment,
        "sentence": sentence,
        "closed": exclusion.message if exclusion else "",
    }
    return render(request, "worker_site/over.html", context, status=status)


def _page(
    request: HttpRequest, worker: Worker, assignment: Assignment, error: str = ""
) -> HttpResponse:
    posted: dict[str, Any] = request.POST.dict()
    context = {
        "assignment": assignment,
        "hit_type": assignment.hit.campaign.hit_type,
        "pool": assignment.hit.campaign.pool,
        "items": shown_items(assignment, posted),
        "remark": posted.get("remark", ""),
        "remark_characters": REMARK_CHARACTERS,
        "error": error,
        "canary": canary_word(assignment)
        if form_of(assignment.hit.campaign.hit_type).canary
        else "",
        "progress": worker_progress(
            worker, in_turns_with(worker, assignment.hit.campaign)
        ),
        "earnings": earnings(worker),
        "seconds_left": max(
            0, round((assignment.deadline_at - timezone.now()).total_seconds())
        ),
    }
    status = 422 if error else 200
    return render(request, "worker_site/hit.html", context, status=status)


def _address_after(request: HttpRequest, worker: Worker, assignment: Assignment) -> str:
    # Who came by a link goes on with what they came for.
    if profile_of(worker).goes_on or visit_of(request) is not None:
        # Other kinds of work have other instructions: the worker chooses them herself.
        return _next_address(request, worker, assignment.hit.campaign.pool)
    return reverse("work:home")


def _next_address(request: HttpRequest, worker: Worker, pool: str | None) -> str:
    visit = visit_of(request)
    if visit is not None and visit.session.worker_id == worker.pk:
        of_visit = visits.next_assignment(visit)
        return _address(of_visit) if of_visit else reverse("work:finished")
    assignment = work.next_assignment(worker, pool)
    if assignment is not None:
        return _address(assignment)
    messages.info(
        request, "There is no more of this work for you at the moment. Thank you!"
    )
    return reverse("work:home")


def _address(assignment: Assignment) -> str:
    """Lead to a HIT; by its instructions, where it is of another kind than those before."""
    if not is_of_another_kind(assignment):
        return reverse("work:hit", args=[assignment.pk])
    page = reverse("work:instructions", args=[assignment.hit.campaign.pool])
    return f"{page}?hit={assignment.pk}"


def _mine(worker: Worker, pk: int) -> Assignment:
    try:
        return work.assignment_of(worker, pk)
    except GenieError as error:
        raise Http404(error.message) from error


def _is_open(assignment: Assignment) -> bool:
    return (
        assignment.state == Assignment.State.ACCEPTED
        and assignment.deadline_at + GRACE > timezone.now()
    )
