import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.cache import caches
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from crowd.campaigns.services import claim, undo, work
from crowd.campaigns.services.claim import GRACE, Page, first_of
from crowd.elsewhere.pages import for_workers, visit_of, wants_json
from crowd.elsewhere.services import visits
from crowd.elsewhere.services.hit_offer import Pages, hit_of, page_of
from crowd.hit_templates.form import DOCUMENT, PART
from crowd.hits.models import Assignment, Campaign, Item
from crowd.hits.selectors import form_of, language_of, translate_hit_type
from crowd.hits.services.check_answers import canary_word, read_telemetry
from crowd.hits.services.platforms import can
from crowd.money.selectors.earnings import pending_cents
from crowd.worker_site.language import Page as View
from crowd.worker_site.language import in_its_language, spoken
from crowd.workers.hit_form import (
    REMARK_CHARACTERS,
    sent_answers,
    sent_seconds,
    sent_to,
    shown_item,
    shown_items,
    stored_answers,
)
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import (
    COUNTED,
    first_unseen_inputs,
    in_turns_with,
    left_of_share,
    most_left,
)
from crowd.workers.selectors.profiles import profile_of
from crowd.workers.services.invitations import study_token
from genie.lib.database import prepare
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or

PAGES = Pages(shown_item, sent_to)
# Other sites show it and get the form; it loads no content, not even from us.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
    "form-action https: http:; base-uri 'none'; frame-ancestors https: http:"
)


@require_safe
@never_cache
@xframe_options_exempt
def page(request: HttpRequest, token: str) -> HttpResponse:
    hit = hit_of(token)
    if hit is None or not can(hit.campaign.platform).answers_there:
        raise Http404(_("There is no such work."))
    nonce = secrets.token_urlsafe(16)
    wanted = request.GET.get("lang") or get_language()
    response = HttpResponse(page_of(hit.campaign.hit_type, hit, PAGES, nonce, wanted))
    response["Content-Security-Policy"] = POLICY.format(nonce=nonce)
    return response


# Parts shown before the page's first.
MOST = 10


@dataclass(frozen=True)
class Earlier:
    fields: Sequence[Mapping[str, Any]]
    # the outputs that were rated, empty if this worker has not seen them
    outputs: Sequence[str]
    language: str


def before(page: Sequence[Assignment]) -> list[Earlier]:
    """Return the parts before a page's first one, in order.

    Inputs are shown for all parts, outputs only for those the worker has rated. A
    campaign can have a test question next to a part, and the output would reveal it.
    """
    first = page[0]
    if not form_of(first.hit.campaign.hit_type).by_document:
        return []
    shown = [item.data for one in page for item in one.hit.items.all()]
    document = shown[0].get(DOCUMENT)
    if not document:
        return []
    least = min(data.get(PART, 0) for data in shown)
    rows = Item.objects.filter(
        campaign=first.hit.campaign_id,
        **{f"data__{DOCUMENT}": document, f"data__{PART}__lt": least},
    )
    judged = set(
        rows.filter(ratings__assignment__worker=first.worker_id).values_list(
            "pk", flat=True
        )
    )
    by_part: dict[int, Earlier] = {}
    for pk, data in sorted(
        rows.values_list("pk", "data"), key=lambda row: row[0] in judged
    ):
        by_part[data.get(PART, 0)] = _earlier(data, seen=pk in judged)
    return [by_part[part] for part in sorted(by_part)][-MOST:]


def _earlier(data: Mapping[str, Any], *, seen: bool) -> Earlier:
    outputs = [output["text"] for output in data.get("outputs") or []]
    outputs = outputs or [str(data.get("prediction", ""))]
    language = str(data.get("lang", ""))
    return Earlier(data.get("fields") or [], outputs if seen else [], language)


State = Assignment.State
# Other workers use up work, and decisions change what is pending.
COUNT_AGAIN = timedelta(minutes=1)
SENT_IN = (State.SUBMITTED, State.APPROVED, State.REJECTED)


@dataclass(frozen=True)
class WorkerProgress:
    n_done: int
    n_left: int
    # whether there may be more left, because counting stopped early
    at_least: bool

    @property
    def n_all(self) -> int:
        return self.n_done + self.n_left


def worker_progress(worker: Worker, campaigns: Sequence[Campaign]) -> WorkerProgress:
    counted = _count_done(worker.pk, *(campaign.pk for campaign in campaigns))
    _, n_done, n_open = next(iter(counted), (worker.pk, 0, 0))
    running = [c for c in campaigns if c.state == Campaign.State.RUNNING]
    n_unseen_inputs = len(first_unseen_inputs(worker, running)) if running else 0
    share = most_left(running, left_of_share(worker, running))
    within = share is not None and share <= n_unseen_inputs
    return WorkerProgress(
        n_done=n_done,
        n_left=n_open + (share if within else n_unseen_inputs),
        at_least=n_unseen_inputs == COUNTED and not within,
    )


_count_done = prepare(
    lambda worker, *campaigns: (
        Assignment.objects.filter(worker=worker, hit__campaign__pk__in=campaigns)
        .order_by()
        .values_list("worker")
        .annotate(
            n_done=Count("pk", filter=Q(state__in=SENT_IN)),
            n_open=Count("pk", filter=Q(state=State.ACCEPTED)),
        )
    )
)


@dataclass(frozen=True)
class _Counts:
    progress: WorkerProgress
    # not counted for unpaid pages, which do not show it
    pending_cents: int | None
    # the first assignment of the page that showed them
    page: int
    counted_at: datetime

    def after(self, answered: Page) -> "_Counts":
        n, progress = len(answered), self.progress
        return replace(
            self,
            progress=replace(
                progress, n_done=progress.n_done + n, n_left=progress.n_left - n
            ),
            pending_cents=None
            if self.pending_cents is None
            else self.pending_cents + sum(one.reward_cents for one in answered),
        )


def _counts(
    worker: Worker, page: Page, campaigns: Sequence[Campaign], answered: Page
) -> _Counts:
    """Count a worker's work, or add the answered page to what that page showed."""
    key, now = f"counts-of-{worker.pk}", timezone.now()
    kept: _Counts | None = caches["shared"].get(key) if answered else None
    cents = sum(one.reward_cents for one in page)
    if (
        kept is not None
        and (not cents or kept.pending_cents is not None)
        and kept.page == claim.first_on(answered).pk
        and now - kept.counted_at < COUNT_AGAIN
        and kept.progress.n_left >= len(answered) + len(page)
    ):
        counts = replace(kept.after(answered), page=claim.first_on(page).pk)
    else:
        counts = _Counts(
            worker_progress(worker, campaigns),
            pending_cents(worker) if cents else None,
            claim.first_on(page).pk,
            now,
        )
    caches["shared"].set(key, counts, COUNT_AGAIN.total_seconds())
    return counts


def is_of_another_kind(assignment: Assignment) -> bool:
    campaign = assignment.hit.campaign
    before = Assignment.objects.filter(
        worker=assignment.worker_id, hit__campaign__pool=campaign.pool_id
    ).exclude(pk=assignment.pk)
    alike = before.filter(hit__campaign__hit_type__template=campaign.hit_type.template)
    return not alike.exists() and before.exists()


# Errors that can be fixed on the page; after any other the work is over.
MENDABLE = {
    *("answer-missing", "not-on-the-scale", "unknown-question", "unusable-spans"),
    "page-has-grown",
}
Context = dict[str, Any]


@post_or("work:home")
@for_workers
def next_hit(request: HttpRequest, worker: Worker) -> HttpResponse:
    pool = request.POST.get("pool") or None
    address, page = find_next(request, worker, pool)
    if pool and any(one.hit.campaign.pool_id != pool for one in page):
        messages.info(request, _("Please finish this page first. You began it before."))
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
    if work.give_back(_mine(worker, pk)):
        messages.info(
            request,
            _("Returned. Another worker can do it. This does not count against you."),
        )
    return redirect(home_of(worker))


@in_its_language
def _take(request: HttpRequest, worker: Worker, assignment: Assignment) -> HttpResponse:
    page = claim.page_of(assignment)
    try:
        claim.refuse_other(page, request.POST.get("hits"))
        work.submit_page(
            page,
            sent_answers(page, request.POST),
            active_seconds=sent_seconds(request.POST),
            remark=request.POST.get("remark", ""),
            signals=read_telemetry(claim.first_on(page), request.POST),
        )
    except GenieError as error:
        return _refuse(request, worker, assignment, error, again=_page)
    return _go_on(request, worker, claim.first_on(page), page)


@in_its_language
def _take_other(
    request: HttpRequest, worker: Worker, assignment: Assignment
) -> HttpResponse:
    page = claim.page_of(assignment)
    try:
        undo.change_page(
            page,
            sent_answers(page, request.POST),
            remark=request.POST.get("remark", ""),
        )
    except GenieError as error:
        return _refuse(request, worker, assignment, error, again=_page_to_change)
    return _go_on(request, worker, claim.first_on(page))


def _go_on(
    request: HttpRequest, worker: Worker, answered: Assignment, page: Page = ()
) -> HttpResponse:
    address = home_of(worker)
    following: Page = []
    # Workers who came by a link continue with the work of that link.
    if profile_of(worker).goes_on or visit_of(request) is not None:
        # Other kinds of work have other instructions, so the worker chooses them.
        pool = answered.hit.campaign.pool_id
        address, following = find_next(request, worker, pool, page)
    if not wants_json(request):
        return redirect(address)
    told: Context = {"next": address}
    if (
        following
        and language_of(following[0]) == language_of(answered)
        and address == _page_of(following[0])
    ):
        last = answered if undo.seconds_left(answered) else None
        with spoken(language_of(following[0])):
            shown = _page_context(worker, following, last, answered=page)
            part = "worker_site/parts/at_work.html"
            told["page"] = render_to_string(part, shown, request)
    return JsonResponse(told)


def _refuse(
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
        # Sentences about work that is over are about HITs.
        over = _("Your answer was not stored") if worker.by_link else error.message
        told = {"error": error.message if mendable else over, "final": not mendable}
        return JsonResponse(
            {**told, "next": _page_of(assignment)}, status=422 if mendable else 409
        )
    if mendable:
        said = {"posted": request.POST.dict(), "error": error.message}
        return again(request, worker, assignment, **said)
    assignment.refresh_from_db()
    return _over(request, assignment, sentence=error.message)


@in_its_language
def _page(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    last: Assignment | None = None,
    *,
    posted: dict[str, str] | None = None,
    error: str = "",
) -> HttpResponse:
    shown = _page_context(worker, claim.page_of(assignment), last, posted=posted)
    return _render(request, shown, error)


@in_its_language
def _page_to_change(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    *,
    posted: dict[str, str] | None = None,
    error: str = "",
) -> HttpResponse:
    return _render(
        request, _changed_context(worker, claim.page_of(assignment), posted), error
    )


def _render(request: HttpRequest, shown: Context, error: str) -> HttpResponse:
    context = {**shown, "error": error}
    status = 422 if error else None
    return render(request, "worker_site/hit.html", context, status=status)


@in_its_language
def _over(
    request: HttpRequest, assignment: Assignment, *, sentence: str = ""
) -> HttpResponse:
    exclusion = Exclusion.objects.filter(
        worker=assignment.worker_id, pool=assignment.hit.campaign.pool_id
    ).first()
    context = {
        "assignment": assignment,
        "sentence": sentence,
        "closed": exclusion.message if exclusion else "",
        "home": home_of(assignment.worker),
        "undo_seconds": undo.may_begin(assignment) and undo.seconds_left(assignment),
    }
    status = 409 if sentence else None
    return render(request, "worker_site/over.html", context, status=status)


def _page_context(
    worker: Worker,
    page: Page,
    last: Assignment | None = None,
    *,
    posted: dict[str, str] | None = None,
    answered: Page = (),
) -> Context:
    assignment = claim.first_on(page)
    return {
        **_questions(worker, page, posted or {}, answered),
        "canary": canary_word(assignment)
        if form_of(assignment.hit.campaign.hit_type).canary
        else "",
        "hits": claim.page_names(page),
        "last": last,
        "undo_seconds": undo.seconds_left(last) if last else 0,
        "seconds_left": max(
            0, round((assignment.deadline_at - timezone.now()).total_seconds())
        ),
    }


def _changed_context(
    worker: Worker, page: Page, posted: dict[str, str] | None = None
) -> Context:
    stored = stored_answers(page) if posted is None else posted
    shown = _questions(worker, page, stored)
    return {**shown, "changing": True, "seconds_left": undo.TO_ANSWER.seconds}


def _questions(
    worker: Worker, page: Page, posted: dict[str, str], answered: Page = ()
) -> Context:
    assignment = claim.first_on(page)
    campaign = assignment.hit.campaign
    in_turns = assignment.in_turns or in_turns_with(worker, campaign)
    counts = _counts(worker, page, in_turns, answered)
    return {
        "assignment": assignment,
        "changing": False,
        "hit_type": translate_hit_type(campaign.hit_type, language_of(assignment)),
        "pool": campaign.pool_id,
        "items": shown_items(page, posted),
        "before": before(page),
        "n_hits": len(page),
        "reward_cents": sum(one.reward_cents for one in page),
        "remark": posted.get("remark", ""),
        "remark_characters": REMARK_CHARACTERS,
        "progress": counts.progress,
        "pending": counts.pending_cents,
        "home": home_of(worker),
    }


def find_next(
    request: HttpRequest, worker: Worker, pool: str | None, answered: Page = ()
) -> tuple[str, Page]:
    visit = visit_of(request)
    if visit is not None and visit.session.worker_id == worker.pk:
        of_visit = visits.next_assignment(visit)
        if of_visit is not None:
            return _address(of_visit), [of_visit]
        if undo.last_answered(worker) is not None:
            _say(request, worker, _("Your last answer is stored."))
        return reverse("work:finished"), []
    page = claim.next_page(worker, pool, answered)
    if page:
        return _address(claim.first_on(page), answered), page
    _say(
        request,
        worker,
        _("There is no more of this work for you at the moment. Thank you!"),
    )
    return home_of(worker), []


def home_of(worker: Worker) -> str:
    """Return the page between HITs; raters by a study's link only have that link."""
    if not worker.by_link or worker.came_by is None:
        return reverse("work:home")
    return reverse("work:invitation", args=[study_token(worker.came_by)])


def _say(request: HttpRequest, worker: Worker, sentence: str) -> None:
    last = undo.last_answered(worker)
    if last is not None and undo.may_begin(last):
        way = reverse("work:change", args=[last.pk])
        link = format_html('<a href="{}">{}</a>', way, _("Change your last answer"))
        sentence = format_html("{} {}", sentence, link)
    messages.info(request, sentence)


def _address(assignment: Assignment, answered: Page = ()) -> str:
    kind = assignment.hit.campaign.hit_type.template
    known = {one.hit.campaign.hit_type.template for one in answered}
    if kind in known or not is_of_another_kind(assignment):
        return _page_of(assignment)
    page = reverse("work:instructions", args=[assignment.hit.campaign.pool_id])
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
