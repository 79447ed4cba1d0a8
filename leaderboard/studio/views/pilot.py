"""Run a pilot, and let a person check and confirm its proposal."""

from decimal import Decimal
from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from crowd.hits.models import Campaign
from crowd.hits.selectors import campaign_progress
from crowd.pricing import hourly_cents
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation import decide
from leaderboard.evaluation.price import Precision
from leaderboard.studio.forms import PilotForm, ProposalForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep
from leaderboard.studio.services import pilot as service
from leaderboard.studio.services.look import Drafted, draft_of
from leaderboard.studio.services.preview import precision_of
from leaderboard.studio.views.access import MAY_INVITE, for_makers, own_draft, page
from leaderboard.tasks.drafts.ask import fair_cents
from leaderboard.tasks.intake.join import Material


@for_makers
def pilot(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    if draft.task_id is not None:
        return redirect("leaderboard:studio-start", pk=pk)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    drafted = draft_of(material, keep.ask_of(draft))
    if "begin" in request.POST:
        return _begin(request, draft, material, drafted)
    if "take" in request.POST:
        return _take(request, draft, material, drafted)
    if "stop" in request.POST and _may_begin(request):
        by = cast("Account", request.user)
        service.end(draft, by=by, reason="Stopped in the studio.")
        return redirect("leaderboard:studio-pilot", pk=pk)
    return _page(request, draft, material, drafted)


def _begin(
    request: HttpRequest, draft: Draft, material: Material, drafted: Drafted
) -> HttpResponse:
    form = PilotForm(request.POST)
    if not _may_begin(request):
        return _page(request, draft, material, drafted, form, status=403)
    if not form.is_valid() or drafted.bundle is None or drafted.problems:
        return _page(request, draft, material, drafted, form, status=400)
    wanted = form.pilot_size(len(material.items))
    shown = (request.POST.get("shown_cents"), request.POST.get("after"))
    if shown != (str(wanted.cents), str(service.number_of(draft))):
        # This price was not approved, or it was spent on an earlier pilot:
        # it is shown, and must be confirmed again.
        return _page(request, draft, material, drafted, form)
    by = cast("Account", request.user)
    try:
        token = service.begin(draft, drafted.bundle, material, wanted, by=by)
    except GenieError as error:
        messages.error(request, error.message)
        return redirect("leaderboard:studio-pilot", pk=draft.pk)
    draft.refresh_from_db()
    link = request.build_absolute_uri(reverse("work:invitation", args=[token]))
    return _page(request, draft, material, drafted, link=link)


def _take(
    request: HttpRequest, draft: Draft, material: Material, drafted: Drafted
) -> HttpResponse:
    campaign = service.campaign_of(draft)
    form = ProposalForm(request.POST)
    if campaign is None or not form.is_valid():
        context: dict[str, Any] = {"proposal": form} if campaign else {}
        return _page(request, draft, material, drafted, status=400, **context)
    people = {**draft.state.get("people", {}), **form.cleaned_data}
    keep.keep(draft, people=people, measured=service.measure_pilot(campaign).to_json())
    service.close(campaign)
    messages.success(request, "Saved. The price has been updated.")
    return redirect("leaderboard:studio-people", pk=draft.pk)


def _page(
    request: HttpRequest,
    draft: Draft,
    material: Material,
    drafted: Drafted,
    form: PilotForm | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    campaign = service.campaign_of(draft)
    form = form or PilotForm()
    wanted = form.pilot_size(len(material.items))
    context: dict[str, Any] = {
        "problems": drafted.problems,
        "form": form,
        "cents": wanted.cents,
        "n_before": service.number_of(draft),
        "n_pages": wanted.n_items * wanted.n_people,
        "may_begin": _may_begin(request),
        "n_all": len(material.items),
    }
    if campaign is not None:
        context |= _so_far(draft, material, drafted, campaign)
        mine = campaign.invitations.filter(guests__user=request.user.pk)
        context["takes_part"] = mine.exists()
    return page(request, "pilot", draft, {**context, **more}, status=status)


def _so_far(
    draft: Draft, material: Material, drafted: Drafted, campaign: Campaign
) -> dict[str, Any]:
    found = service.measure_pilot(campaign)
    precision = (
        precision_of(drafted.bundle, material, found.to_json())
        if drafted.bundle and not drafted.problems and found.components
        else None
    )
    fair = fair_cents(found.seconds) if found.seconds else None
    asked = campaign.hit_type
    human = drafted.bundle.document["human"] if drafted.bundle else {}
    table = drafted.bundle.document.get("comparison", human) if drafted.bundle else {}
    return {
        "campaign": campaign,
        "running": campaign.state == Campaign.State.RUNNING,
        "progress": campaign_progress(campaign),
        "n_places": sum(campaign.hits.values_list("max_assignments", flat=True)),
        "measured": found,
        "hourly": hourly_cents(asked.reward_cents, found.seconds),
        "fair_cents": fair,
        "precision": precision,
        "asked_anew": cast("dict[str, Any]", table).get("criteria")
        != dict(asked.criteria),
        "proposal": ProposalForm(initial=_proposals(draft, fair, precision)),
    }


def _proposals(
    draft: Draft, fair: int | None, precision: Precision | None
) -> dict[str, Any]:
    ask = keep.ask_of(draft)
    people: dict[str, Any] = {"n_items": ask.n_items or None, "ratings": ask.ratings}
    if fair is not None and not ask.volunteers:
        people["reward"] = Decimal(fair) / 100
    aims = [aim for aim in precision.aims if aim.n_instances] if precision else []
    if aims:
        people |= {"n_items": aims[0].n_instances, "ratings": aims[0].ratings_each}
    return people


def _may_begin(request: HttpRequest) -> bool:
    return decide.may_decide(request.user) and request.user.has_perm(MAY_INVITE)
