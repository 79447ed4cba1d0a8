from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _

from crowd.campaigns.selectors.document_context import before
from crowd.campaigns.services import pages, undo, work
from crowd.campaigns.services.claim import GRACE, first_of
from crowd.campaigns.services.pages import Page
from crowd.elsewhere.pages.access import for_workers, wants_json
from crowd.elsewhere.pages.visit import visit_of
from crowd.elsewhere.services import visits
from crowd.hits.models.assignment import Assignment
from crowd.hits.selectors.questions import form_of
from crowd.hits.selectors.wording import language_of, worded
from crowd.hits.services.signals import canary_word, read_signals
from crowd.money.selectors.earnings import earnings
from crowd.worker_site.language import Page as View
from crowd.worker_site.language import in_its_language, spoken
from crowd.workers.hit_form import (
    REMARK_CHARACTERS,
    sent_answers,
    sent_seconds,
    shown_items,
    stored_answers,
)
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import in_turns_with
from crowd.workers.selectors.profiles import profile_of
from crowd.workers.selectors.worker_progress import is_of_another_kind, worker_progress
from genie.lib.errors import GenieError
from genie.lib.serving.post_only import post_or

# Errors that can be fixed on the page; after any other the work is over.
MENDABLE = {
    *("answer-missing", "not-on-the-scale", "unknown-question", "unusable-spans"),
    "page-has-grown",
}
Context = dict[str, Any]


@post_or("work:home")
@for_workers
def next_hit(request: HttpRequest, worker: Worker) -> HttpResponse:
    address, _hit = _next(request, worker, request.POST.get("pool") or None)
    return redirect(address)


@for_workers
def hit(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = _mine(worker, pk)
    if request.method == "POST":
        return _take(request, worker, assignment)
    if not _is_open(assignment):
        return _over(request, assignment)
    last = undo.last_answered(worker, before=assignment.pk)
    return _page(request, worker, assignment, last)


@for_workers
def change(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = _mine(worker, pk)
    if request.method == "POST":
        return _take_other(request, worker, assignment)
    if not undo.may_begin(assignment):
        return _over(request, assignment)
    return _page_to_change(request, worker, assignment)


@post_or("work:home")
@for_workers
def give_back(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = _mine(worker, pk)
    if work.give_back(assignment):
        messages.info(
            request,
            _("Returned. Somebody else can do it; this does not count against you."),
        )
    return redirect("work:home")


@in_its_language
def _take(request: HttpRequest, worker: Worker, assignment: Assignment) -> HttpResponse:
    page = pages.page_of(assignment)
    try:
        pages.refuse_other(page, request.POST.get("hits"))
        work.submit_page(
            page,
            sent_answers(page, request.POST),
            active_seconds=sent_seconds(request.POST),
            remark=request.POST.get("remark", ""),
            signals=read_signals(pages.first_on(page), request.POST),
        )
    except GenieError as error:
        return _refused(request, worker, assignment, error, again=_page)
    return _go_on(request, worker, pages.first_on(page))


@in_its_language
def _take_other(
    request: HttpRequest, worker: Worker, assignment: Assignment
) -> HttpResponse:
    page = pages.page_of(assignment)
    try:
        undo.change_page(
            page,
            sent_answers(page, request.POST),
            remark=request.POST.get("remark", ""),
        )
    except GenieError as error:
        return _refused(request, worker, assignment, error, again=_page_to_change)
    return _go_on(request, worker, pages.first_on(page))


def _go_on(request: HttpRequest, worker: Worker, answered: Assignment) -> HttpResponse:
    address = reverse("work:home")
    following: Page = []
    # Workers who came by a link continue with the work of that link.
    if profile_of(worker).goes_on or visit_of(request) is not None:
        # Other kinds of work have other instructions, so the worker chooses them.
        address, following = _next(request, worker, answered.hit.campaign.pool)
    if not wants_json(request):
        return redirect(address)
    told: Context = {"next": address}
    if following and _fits_into_page(following[0], answered, address):
        last = answered if undo.seconds_left(answered) else None
        with spoken(language_of(following[0])):
            shown = _shown(worker, following, last)
            part = "worker_site/parts/at_work.html"
            told["page"] = render_to_string(part, shown, request)
    return JsonResponse(told)


def _fits_into_page(following: Assignment, answered: Assignment, address: str) -> bool:
    same = language_of(following) == language_of(answered)
    return same and address == _page_of(following)


def _refused(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    error: GenieError,
    *,
    again: View,
) -> HttpResponse:
    changing = again is _page_to_change
    mendable = error.code in MENDABLE and (changing or _is_open(assignment))
    if wants_json(request):
        told = {"error": error.message, "final": not mendable}
        return JsonResponse(
            {**told, "next": _page_of(assignment)}, status=422 if mendable else 409
        )
    if mendable:
        posted = request.POST.dict()
        said = {"posted": posted, "error": error.message, "status": 422}
        return again(request, worker, assignment, **said)
    assignment.refresh_from_db()
    return _over(request, assignment, sentence=error.message, status=409)


@in_its_language
def _page(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    last: Assignment | None = None,
    *,
    posted: dict[str, str] | None = None,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    page = pages.page_of(assignment)
    shown = {**_shown(worker, page, last, posted=posted), "error": error}
    return render(request, "worker_site/hit.html", shown, status=status)


@in_its_language
def _page_to_change(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    *,
    posted: dict[str, str] | None = None,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    page = pages.page_of(assignment)
    shown = {**_changed(worker, page, posted), "error": error}
    return render(request, "worker_site/hit.html", shown, status=status)


@in_its_language
def _over(
    request: HttpRequest,
    assignment: Assignment,
    *,
    sentence: str = "",
    status: int = 200,
) -> HttpResponse:
    exclusion = Exclusion.objects.filter(
        worker=assignment.worker_id, pool=assignment.hit.campaign.pool
    ).first()
    context = {
        "assignment": assignment,
        "sentence": sentence,
        "closed": exclusion.message if exclusion else "",
        "undo_seconds": undo.may_begin(assignment) and undo.seconds_left(assignment),
    }
    return render(request, "worker_site/over.html", context, status=status)


def _shown(
    worker: Worker,
    page: Page,
    last: Assignment | None = None,
    *,
    posted: dict[str, str] | None = None,
) -> Context:
    assignment = pages.first_on(page)
    return {
        **_questions(worker, page, posted or {}),
        "canary": canary_word(assignment)
        if form_of(assignment.hit.campaign.hit_type).canary
        else "",
        "hits": pages.names(page),
        "last": last,
        "undo_seconds": undo.seconds_left(last) if last else 0,
        "seconds_left": max(
            0, round((assignment.deadline_at - timezone.now()).total_seconds())
        ),
    }


def _changed(
    worker: Worker, page: Page, posted: dict[str, str] | None = None
) -> Context:
    stored = stored_answers(page) if posted is None else posted
    shown = _questions(worker, page, stored)
    return {**shown, "changing": True, "seconds_left": undo.TO_ANSWER.seconds}


def _questions(worker: Worker, page: Page, posted: dict[str, str]) -> Context:
    assignment = pages.first_on(page)
    campaign = assignment.hit.campaign
    in_turns = assignment.in_turns or in_turns_with(worker, campaign)
    return {
        "assignment": assignment,
        "changing": False,
        "hit_type": worded(campaign.hit_type, language_of(assignment)),
        "pool": campaign.pool,
        "items": shown_items(page, posted),
        "before": before(page),
        "n_hits": len(page),
        "reward_cents": sum(one.reward_cents for one in page),
        "remark": posted.get("remark", ""),
        "remark_characters": REMARK_CHARACTERS,
        "progress": worker_progress(worker, in_turns),
        "earnings": earnings(worker),
    }


def _next(request: HttpRequest, worker: Worker, pool: str | None) -> tuple[str, Page]:
    visit = visit_of(request)
    if visit is not None and visit.session.worker_id == worker.pk:
        of_visit = visits.next_assignment(visit)
        if of_visit is not None:
            return _address(of_visit), [of_visit]
        if undo.last_answered(worker) is not None:
            _say(request, worker, _("Your last answer is stored."))
        return reverse("work:finished"), []
    page = pages.next_page(worker, pool)
    if page:
        return _address(pages.first_on(page)), page
    _say(
        request,
        worker,
        _("There is no more of this work for you at the moment. Thank you!"),
    )
    return reverse("work:home"), []


def _say(request: HttpRequest, worker: Worker, sentence: str) -> None:
    last = undo.last_answered(worker)
    if last is not None and undo.may_begin(last):
        way = reverse("work:change", args=[last.pk])
        link = format_html('<a href="{}">{}</a>', way, _("Change your last answer"))
        sentence = format_html("{} {}", sentence, link)
    messages.info(request, sentence)


def _address(assignment: Assignment) -> str:
    if not is_of_another_kind(assignment):
        return _page_of(assignment)
    page = reverse("work:instructions", args=[assignment.hit.campaign.pool])
    return f"{page}?hit={assignment.pk}"


def _page_of(assignment: Assignment) -> str:
    return reverse("work:hit", args=[first_of(assignment).pk])


def _mine(worker: Worker, pk: int) -> Assignment:
    try:
        return first_of(work.assignment_of(worker, pk))
    except GenieError as error:
        raise Http404(error.message) from error


def _is_open(assignment: Assignment) -> bool:
    return (
        assignment.state == Assignment.State.ACCEPTED
        and assignment.deadline_at + GRACE > timezone.now()
    )
