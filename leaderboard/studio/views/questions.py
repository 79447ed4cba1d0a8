"""What is asked, of whom, and the page that workers would see."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.clickjacking import xframe_options_sameorigin

from crowd.hit_templates.consent import consent_of
from crowd.hit_templates.markdown import to_html
from crowd.workers.hit_preview import preview
from genie.lib.serving.security import POLICY
from leaderboard.studio.forms import AskForm, PeopleForm
from leaderboard.studio.services import keep
from leaderboard.studio.services.look import Drafted, draft_of
from leaderboard.studio.services.preview import (
    compares,
    page_of,
    precision_of,
    price_of,
)
from leaderboard.studio.views.access import for_makers, own_draft, page
from leaderboard.tasks.drafts.ask import WAYS
from leaderboard.tasks.intake.join import Material

_STATEMENT = WAYS["direct-assessment"].statement
# The page may stand in a frame of our own, which no other page may.
_FRAMED = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")


@for_makers
def ask(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    data = request.POST if request.method == "POST" else None
    form = AskForm(data, draft.state.get("asked", {}), _STATEMENT)
    if form.is_valid():
        keep.keep(draft, asked=form.cleaned_data)
    drafted = draft_of(material, keep.ask_of(draft))
    if form.is_valid() and "on" in request.POST and not drafted.problems:
        return redirect("leaderboard:studio-people", pk=pk)
    context = {
        "form": form,
        "problems": drafted.problems,
        "instructions": to_html(draft.state.get("asked", {}).get("instructions", "")),
        **_consent(drafted),
    }
    status = 400 if form.is_bound and form.errors else 200
    return page(request, "ask", draft, context, status=status)


@for_makers
def people(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    data = request.POST if request.method == "POST" else None
    form = PeopleForm(data, draft.state.get("people", {}))
    if form.is_valid():
        keep.keep(draft, people=form.cleaned_data)
    drafted = draft_of(material, keep.ask_of(draft))
    if form.is_valid() and "on" in request.POST and not drafted.problems:
        return redirect("leaderboard:studio-start", pk=pk)
    context = {
        "form": form,
        "problems": drafted.problems,
        "plan": plan_in_figures(material, drafted),
        "n_all": len(material.items),
    }
    if drafted.bundle is not None and not drafted.problems:
        context["precision"] = precision_of(drafted.bundle, material)
    status = 400 if form.is_bound and form.errors else 200
    return page(request, "people", draft, context, status=status)


@xframe_options_sameorigin
@for_makers
def worker_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one page as workers would see it; answers are explained and not kept."""
    draft = own_draft(request, pk)
    material = keep.read(draft).material
    drafted = draft_of(material, keep.ask_of(draft)) if material else None
    if (
        material is None
        or drafted is None
        or drafted.bundle is None
        or drafted.problems
    ):
        raise Http404("There is no page yet: something is missing.")
    number = request.GET.get("n", "")
    n = int(number) if number.isdecimal() and len(number) < 9 else 0
    response = preview(request, *page_of(drafted.bundle, material, n))
    response["Content-Security-Policy"] = _FRAMED
    return response


def plan_in_figures(material: Material, drafted: Drafted) -> dict[str, Any] | None:
    """Say in figures what would be judged, before any price is worked out."""
    if drafted.bundle is None or drafted.problems:
        return None
    human: Any = drafted.bundle.document["human"]
    n_systems = len(material.systems)
    pairs = compares(drafted.bundle)
    n_each = human["sample_size"] * human["ratings_per_instance"]
    n_pages = n_each * (n_systems * (n_systems - 1) // 2 if pairs else n_systems)
    return {
        "pairs": pairs,
        "n_inputs": human["sample_size"],
        "n_systems": n_systems,
        "n_pages": n_pages,
        "seconds": human["expected_seconds"],
        "hours": n_pages * human["expected_seconds"] / 3600,
        "reward_cents": human["reward_cents"],
        "reward_total": n_pages * human["reward_cents"],
        "price_cents": price_of(drafted.bundle, material),
    }


def _consent(drafted: Drafted) -> dict[str, Any]:
    if drafted.bundle is None:
        return {}
    human: Any = drafted.bundle.document["human"]
    return {"consent": consent_of(human["hit_template"]).html}
