"""Load, price, approve and start the task; show the link for people."""

from typing import Any, cast
from urllib.parse import urlsplit

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from crowd.elsewhere.services.accounts import pays_in
from crowd.money.services.budgets import budget_left
from crowd.workers.services.invitations import study_links
from genie.lib.errors import GenieError
from genie.lib.site_address import OWN_MACHINE, network_host
from genie.lib.typing import Account
from leaderboard.evaluation import decide
from leaderboard.studio.forms import LinkForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep, make, own_test
from leaderboard.studio.services import start as service
from leaderboard.studio.services.look import draft_of
from leaderboard.studio.views.access import MAY_INVITE, for_makers, own_draft, page
from leaderboard.studio.views.questions import plan_in_figures
from leaderboard.submissions.models import Submission


@for_makers
def start(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    if request.method != "POST":
        return _page(request, draft)
    if "link" in request.POST:
        return _invite(request, draft)
    act = next((name for name in _ACTS if name in request.POST), "")
    if act:
        try:
            _ACTS[act](request, draft)
        except GenieError as error:
            messages.error(request, error.message)
    return redirect("leaderboard:studio-start", pk=pk)


def _load(request: HttpRequest, draft: Draft) -> None:
    # Read before any lock: large files take a while.
    material = keep.read(draft).material
    if draft.task is not None or material is None:
        return
    drafted = draft_of(material, keep.ask_of(draft))
    if drafted.bundle is None or drafted.problems:
        return
    with transaction.atomic():
        # Two clicks load once: the second waits, and finds the task loaded.
        draft = Draft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
        if draft.task is not None:
            return
        keep.refuse_taken(draft.slug)
        made = make.make(
            drafted.bundle,
            material.systems,
            owner=_account(request),
            by_link=keep.ask_of(draft).volunteers,
        )
        if questions := keep.written_test(draft):
            own_test.publish(
                made.task, questions, keep.pass_percent(draft), by=_account(request)
            )
        draft.task = made.task
        keep.keep(draft, systems=list(material.systems))


def _approve(request: HttpRequest, draft: Draft) -> None:
    planned = _plan(draft)
    if planned is None or not decide.may_decide(request.user):
        raise GenieError("You may not approve this.", code="permission-denied")
    shown = request.POST.get("shown_cents", "")
    if "agreed" not in request.POST or not shown.isdecimal():
        raise GenieError("Confirm that you approve the price.", code="not-agreed")
    n = service.approve(
        planned,
        by=_account(request),
        at_most_cents=int(shown),
        despite=request.POST.get("despite", "").strip()[:500],
    )
    if n:
        price = f" up to ${planned.cents / 100:,.2f}" if planned.cents else ""
        messages.success(request, f"Approved{price}.")


_ACTS = {"load": _load, "approve": _approve}


def _invite(request: HttpRequest, draft: Draft) -> HttpResponse:
    form = LinkForm(request.POST)
    allowed = request.user.has_perm(MAY_INVITE)
    if draft.task is None or not allowed or not form.is_valid():
        return _page(request, draft, form, status=400 if allowed else 403)
    service.invite(draft.task, by=_account(request), **form.cleaned_data)
    return redirect(f"{reverse('leaderboard:studio-start', args=[draft.pk])}#link")


def _page(
    request: HttpRequest,
    draft: Draft,
    form: LinkForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {"ask": keep.ask_of(draft)}
    if draft.task is None:
        material = keep.read(draft).material
        if material is None:
            return redirect("leaderboard:studio-files", pk=draft.pk)
        drafted = draft_of(material, context["ask"])
        context["problems"] = drafted.problems
        context["plan"] = plan_in_figures(material, drafted)
        return page(request, "start", draft, context)
    submissions = make.systems_of(draft)
    planned = _plan(draft)
    context |= {
        "task": draft.task,
        "submissions": submissions,
        "under_way": any(
            one.state in make.UNDER_WAY and not one.failure_permanent
            for one in submissions
        ),
        "measured": _all_measured(submissions),
        "planned": planned,
        "waiting": [_line(one) for one in planned.waiting] if planned else [],
        "left": budget_left(draft.task.slug),
        "elsewhere": pays_in(draft.task.human.platform, planned.cents)
        if planned and planned.waiting
        else "",
        "may_approve": decide.may_decide(request.user),
        "may_invite": request.user.has_perm(MAY_INVITE),
        "form": form or LinkForm(),
        "links": [
            (row, request.build_absolute_uri(reverse("work:invitation", args=[token])))
            for row, token in study_links(draft.task.slug)
        ],
        # people on the network cannot open an address of this computer only
        "network": urlsplit(request.build_absolute_uri()).hostname in OWN_MACHINE
        and network_host(),
    }
    return page(request, "start", draft, context, status=status)


def _line(subject: service.Subject) -> dict[str, Any]:
    evaluation = decide.evaluation_about(subject)
    quote, n = decide.quote(evaluation), len(evaluation.alone) or 1
    return {
        "name": str(subject),
        "system": getattr(subject, "system_name", ""),
        # all systems cost the same
        "cents": quote.total_cents // n,
        "n": quote.n_assignments // n,
        "submission": subject if isinstance(subject, Submission) else None,
    }


def _plan(draft: Draft) -> service.Plan | None:
    submissions = make.systems_of(draft)
    if draft.task is None or not _all_measured(submissions):
        return None
    planned = service.plan(draft.task, submissions)
    return planned if planned.subjects else None


def _all_measured(submissions: list[Submission]) -> bool:
    return bool(submissions) and all(
        one.human_evaluation is not None for one in submissions
    )


def _account(request: HttpRequest) -> Account:
    return cast("Account", request.user)
