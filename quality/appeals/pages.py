"""Pages for workers: appeal against a decision, and read the answer."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext

from crowd.elsewhere.pages import for_workers
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import (
    language_of,
    scale_of,
    template_of,
    title_now,
    translate_hit_type,
)
from crowd.requester.models import RequesterAssignment
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import agreed_text
from genie.lib.errors import GenieError
from quality.appeals import services as service
from quality.appeals.models import Appeal
from quality.bans.models import Ban
from quality.bans.selectors import soft_weights
from quality.detection.models import Standing
from quality.test_questions.selectors import given_answers


@for_workers
def rejection(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = (
        Assignment.objects.filter(pk=pk, worker=worker)
        .select_related("hit__campaign__hit_type")
        .first()
    )
    if assignment is None:
        raise Http404("This HIT is not assigned to you.")
    return _page(
        request,
        _appeal_of(assignment, Appeal.objects.filter(assignment=assignment)),
        lambda words: service.against_rejection(worker, pk, words),
        title=title_now(assignment.hit.campaign.hit_type),
        assignment=assignment,
        judged=_judged_items(assignment),
    )


def _judged_items(assignment: Assignment) -> list[dict[str, object]]:
    hit_type = translate_hit_type(
        assignment.hit.campaign.hit_type, language_of(assignment)
    )
    template, scale = template_of(hit_type), scale_of(hit_type)
    return [
        {
            "html": template.render(item.data),
            "given": given_answers(
                list(assignment.ratings.filter(item=item).order_by("pk")), scale
            ),
        }
        for item in assignment.hit.items.all()
    ]


@for_workers
def requester(request: HttpRequest, worker: Worker, entity_id: str) -> HttpResponse:
    work = (
        RequesterAssignment.objects.filter(entity_id=entity_id, worker__worker=worker)
        .select_related("hit__hit_type")
        .first()
    )
    if work is None:
        raise Http404("This HIT is not assigned to you.")
    return _page(
        request,
        _appeal_of(work, Appeal.objects.filter(requester_assignment=work)),
        lambda words: service.against_requester(worker, entity_id, words),
        title=work.hit.hit_type.title,
        assignment=work,
    )


@for_workers
def ban(request: HttpRequest, worker: Worker, pool: str) -> HttpResponse:
    newest = Ban.objects.filter(worker=worker, pool=pool).order_by("-pk").first()
    if newest is None:
        raise Http404("There is nothing to appeal.")
    appeal = Appeal.objects.filter(ban=newest).first()
    campaign = _newest(pool)
    return _page(
        request,
        appeal,
        lambda words: service.against_ban(worker, pool, words),
        title=title_now(campaign.hit_type) if campaign else pool,
        ban_over=newest.lifted_at is not None,
    )


@for_workers
def record(request: HttpRequest, worker: Worker, pool: str) -> HttpResponse:
    """Show how much a worker's answers count in the next campaigns of a pool."""
    campaign = _newest(pool)
    standing = Standing.objects.filter(worker=worker, pool=pool).first()
    # Who has a record may have agreed to an earlier text.
    if campaign is None or not (standing or agreed_text(worker, pool)):
        raise Http404("There is no such work.")
    counts = soft_weights(pool).get(str(worker.pk), 1.0) if standing else None
    return _page(
        request,
        service.record_appeal(worker, pool),
        lambda words: service.against_record(worker, pool, words),
        title=title_now(campaign.hit_type),
        is_record=True,
        # in coarse steps, which show no effect of single answers
        percent=None if counts is None else 25 * round(4 * counts),
    )


def _newest(pool: str) -> Campaign | None:
    campaigns = Campaign.objects.filter(pool=pool).select_related("hit_type")
    return campaigns.order_by("-pk").first()


@for_workers
def exclusion(request: HttpRequest, worker: Worker) -> HttpResponse:
    appeal = service.exclusion_appeal(worker)
    if appeal is None and not worker.excluded:
        raise Http404("There is nothing to appeal.")
    return _page(
        request,
        appeal,
        lambda words: service.against_exclusion(worker, words),
        title=gettext("Your work"),
    )


def _appeal_of(
    work: Assignment | RequesterAssignment, appeals: QuerySet[Appeal]
) -> Appeal | None:
    """Return the appeal against the rejection, if any; raise 404 for other work."""
    appeal = appeals.first()
    # A rejection that was taken back leaves its appeal, which stays readable.
    if appeal is None and work.state != type(work).State.REJECTED:
        raise Http404("There is nothing to appeal.")
    return appeal


def _page(
    request: HttpRequest,
    appeal: Appeal | None,
    send: Callable[[str], Appeal],
    **context: object,
) -> HttpResponse:
    error, words = "", request.POST.get("words", "")
    if request.method == "POST":
        try:
            send(words)
        except GenieError as refusal:
            error = refusal.message
        else:
            messages.success(
                request,
                gettext(
                    "Submitted. A person will review it, and you will get the answer as a "
                    "message."
                ),
            )
            return redirect(request.path)
    shown = {
        **context,
        "appeal": appeal,
        "error": error,
        "words": words,
        "characters": service.CHARACTERS,
    }
    status = 422 if error else None
    return render(request, "worker_site/appeal.html", shown, status=status)


app_name = "appeals"
urlpatterns = [
    path("work/<int:pk>/", rejection, name="work"),
    path("requester/<str:entity_id>/", requester, name="requester"),
    path("exclusion/", exclusion, name="exclusion"),
    path("ban/<slug:pool>/", ban, name="ban"),
    path("record/<slug:pool>/", record, name="record"),
]
