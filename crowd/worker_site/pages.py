import re
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from crowd.campaigns.selectors.offers import Offer, offers
from crowd.campaigns.services.claim import open_assignment
from crowd.elsewhere.pages import for_workers
from crowd.hits.models import Assignment
from crowd.hits.selectors import (
    expected_seconds,
    language_of,
    language_of_pool,
    scale_of,
    template_of,
    translate_hit_type,
)
from crowd.messages import services as service
from crowd.money.selectors.earnings import done_for_requesters, earned_by_day
from crowd.money.selectors.earnings import earnings as earnings_selector
from crowd.money.selectors.payouts import OWN_SITE, next_for
from crowd.pricing import hourly_cents
from crowd.requester.pages.groups import has_work
from crowd.worker_site.language import in_words, mark_language, spoken
from crowd.workers.models.worker import Exclusion, Pause, Worker
from crowd.workers.selectors.eligible import agreed_text, consent_text, open_pools
from crowd.workers.services import exclusions
from crowd.workers.services.invitations import give_consent
from genie.lib.serving.pages import page_of

PAGE = 100
OFFERS = 25
DAYS = 31


@for_workers
def home(request: HttpRequest, worker: Worker) -> HttpResponse:
    shown = page_of(open_pools(worker), OFFERS, request.GET.get("page"))
    # only the pools of this page are queried
    listed = offers(worker, pools=list(shown.object_list))
    language = get_language() or ""
    shown.object_list = [in_words(offer, language) for offer in listed]
    return render(
        request,
        "worker_site/home.html",
        {
            "here": "home",
            "offers": shown,
            "open": open_assignment(worker, timezone.now()),
            "earnings": earnings_selector(worker),
            "exclusions": Exclusion.objects.filter(worker=worker),
            "paused": Pause.objects.filter(worker=worker).exists(),
            "excluded": worker.excluded and exclusions.notice_of(worker),
            "requests": has_work(worker),
        },
    )


@for_workers
def consent(request: HttpRequest, worker: Worker, pool: str) -> HttpResponse:
    offer = _offer(worker, pool)
    if request.method == "POST":
        language, read = request.POST.get("language"), request.POST.get("version")
        if read and read != consent_text(pool, language).sha256:
            # It was changed or is no longer available in this language: read it
            # again
            return redirect("work:consent", pool=pool)
        give_consent(worker, pool, language)
        messages.success(request, _("Thank you. Please read the instructions."))
        return redirect("work:instructions", pool=pool)
    text, given = agreed_text(worker, pool) or (consent_text(pool), None)
    with spoken(text.language):
        offer = in_words(offer, text.language)
        context = {"offer": offer, "text": text, "given": given}
        page = render(request, "worker_site/consent.html", context)
    return mark_language(page, text.language)


@for_workers
def instructions(request: HttpRequest, worker: Worker, pool: str) -> HttpResponse:
    assignment = _their_hit(request, worker, pool)
    if assignment is None:
        offer = _offer(worker, pool)
        language = language_of_pool(offer.hit_type, pool)
    else:
        offer, language = None, language_of(assignment)
    with spoken(language):
        context = _explanation(assignment, offer, language)
        page = render(request, "worker_site/instructions.html", context)
    return mark_language(page, language)


def _explanation(
    assignment: Assignment | None, offer: Offer | None, language: str
) -> dict[str, Any]:
    if assignment is not None:
        hit_type = translate_hit_type(assignment.hit.campaign.hit_type, language)
    elif offer is not None:
        offer = in_words(offer, language)
        hit_type = offer.hit_type
    template = template_of(hit_type)
    return {
        "assignment": assignment,
        "offer": offer,
        "hit_type": hit_type,
        "template": template,
        "explained": template.instructions_of(hit_type.form),
        "scale": scale_of(hit_type),
        "seconds": (seconds := expected_seconds(hit_type)),
        "hourly_cents": hourly_cents(hit_type.reward_cents, seconds),
    }


def _their_hit(request: HttpRequest, worker: Worker, pool: str) -> Assignment | None:
    number = request.GET.get("hit", "")
    if not number:
        return None
    assignment = (
        Assignment.objects.filter(worker=worker, hit__campaign__pool=pool)
        # Eighteen digits fit into a key; more would raise a database error.
        .filter(pk=int(number) if re.fullmatch(r"[0-9]{1,18}", number) else 0)
        .select_related("hit__campaign__hit_type")
        .first()
    )
    if assignment is None:
        raise Http404(_("This HIT is not assigned to you."))
    return assignment


@for_workers
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    done = (
        Assignment.objects.filter(worker=worker, submitted_at__isnull=False)
        .select_related("hit__campaign__hit_type")
        .prefetch_related("ledger")
        .order_by("-submitted_at", "-pk")
    )
    return render(
        request,
        "worker_site/earnings.html",
        {
            "here": "earnings",
            "earnings": earnings_selector(worker),
            "next_payout": next_for(worker) if worker.platform == OWN_SITE else None,
            "days": page_of(earned_by_day(worker), DAYS, request.GET.get("days")),
            "page": page_of(done, PAGE, request.GET.get("page")),
            "theirs": page_of(
                done_for_requesters(worker), PAGE, request.GET.get("theirs")
            ),
        },
    )


def _offer(worker: Worker, pool: str) -> Offer:
    for offer in offers(worker, pools=[pool]):
        return offer
    raise Http404(_("There is no such work for you at the moment."))


MESSAGES_PER_PAGE = 50


@for_workers
def message_list(request: HttpRequest, worker: Worker) -> HttpResponse:
    rows = worker.messages.select_related("requester", "requester_assignment")
    rows = rows.order_by("-created_at", "-pk")
    page = page_of(rows, MESSAGES_PER_PAGE, request.GET.get("page"))
    # Read from the database before they are marked, because the page shows which are
    # new.
    page.object_list = list(page.object_list)
    service.mark_read(worker, [row.pk for row in page if row.read_at is None])
    context = {"here": "messages", "page": page}
    return render(request, "worker_site/messages.html", context)
