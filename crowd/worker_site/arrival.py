"""Arrival by an invitation or by a platform's link, and the way back."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET

from crowd.elsewhere.pages import RATERS, begin, rater_here, visit_of
from crowd.elsewhere.services import visits
from crowd.hit_templates.form import STUDY
from crowd.hits.models import Campaign
from crowd.platforms.base import Completion
from crowd.worker_site.hit import find_next
from crowd.workers.hit_form import AccountForm, InvitationForm, RaterForm
from crowd.workers.models.worker import Invitation, Worker
from crowd.workers.selectors.eligible import (
    SHARE_DONE,
    consent_text,
    consented_pools,
    open_pools,
    used_up,
)
from crowd.workers.services import invitations
from genie.accounts.throttles import WrongCodes, WrongCodesOfLink, WrongLinks, too_many
from genie.lib.errors import GenieError

_TOO_MANY_CODE = "throttled"
_TOO_MANY = gettext_lazy("Too many wrong codes were typed in; try again in an hour.")


@never_cache
@sensitive_post_parameters("password1", "password2")
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Create a worker from an invitation; only confirming uses it up, not opening it."""
    user = request.user if isinstance(request.user, AbstractBaseUser) else None
    found = invitations.find(token)
    try:
        if found and token.startswith(invitations.STUDY):
            return _for_rater(request, token, found)
        if found and user and found.guests.filter(user_id=user.pk).exists():
            return _to_work(request, user, found)
        return _for_worker(request, token, user, invitations.usable(token))
    except GenieError as error:
        if found and user and error.code == "already-a-worker":
            return _to_work(request, user, found, error.message)
        context = {"sentence": error.message}
        page = "worker_site/invitation_refused.html"
        refused = render(request, page, context, status=410)
        limit = WrongLinks()
        return refused if limit.one_more(request) else too_many(refused, limit.wait())


def _for_rater(request: HttpRequest, token: str, found: Invitation) -> HttpResponse:
    request.by_link = True  # type: ignore[attr-defined]
    pool = str(found.pool_id)
    rater = rater_here(request, pool)
    form = RaterForm(
        request.POST if request.method == "POST" else None,
        initial={"name": rater and rater.platform_worker_id.partition(":")[2]},
    )
    if found.places == 1:
        del form.fields["name"]
    if form.is_valid():
        worker = invitations.redeem(token, None, **form.cleaned_data)
        invitations.give_consent(worker, pool)
        request.session[RATERS] = {**request.session.get(RATERS, {}), pool: worker.pk}
        return redirect(find_next(request, worker, pool)[0])
    text = Campaign.objects.filter(pool=pool).exists() and consent_text(pool)
    return _render_question(request, token, form, "study", text=text, rater=rater)


def _for_worker(
    request: HttpRequest, token: str, user: AbstractBaseUser | None, found: Invitation
) -> HttpResponse:
    kind: Any = InvitationForm if user else AccountForm
    form = kind(request.POST if request.method == "POST" else None)
    if not found.code:
        del form.fields["code"]
    if form.is_valid():
        with transaction.atomic():  # no account is left over if the place is taken
            person: Any = user or form.save()
            taken = _take_place(request, form, token, person)
            if not taken:
                transaction.set_rollback(True)
        if taken:
            if user is None:
                login(request, person)
            return _to_work(request, person, found)
    return _render_question(request, token, form)


def _take_place(
    request: HttpRequest, form: BaseForm, token: str, user: AbstractBaseUser
) -> bool:
    coded = "code" in form.fields
    limits: list[Any] = [WrongCodes(), WrongCodesOfLink(token)] if coded else []
    # each is called, because calling counts
    allowed = [
        limit.allow_request(cast("Any", request), cast("Any", None)) for limit in limits
    ]
    if not all(allowed):
        form.add_error("code", ValidationError(_TOO_MANY, _TOO_MANY_CODE))
        return False
    try:
        invitations.redeem(token, user, form.cleaned_data.get("code", ""))
    except GenieError as error:
        if error.code != "wrong-code":
            raise
        for limit in limits:
            limit.count()
        form.add_error("code", error.message)
        return False
    return True


def _render_question(
    request: HttpRequest, token: str, form: Any, page: str = "invitation", **more: Any
) -> HttpResponse:
    status = 422 if form.errors else None
    if form.has_error("code", _TOO_MANY_CODE):
        status = 429
    context = {"token": token, "form": form, **more}
    return render(request, f"worker_site/{page}.html", context, status=status)


@never_cache
@require_GET
def by_link(
    request: HttpRequest, platform: str, pk: int, panel: str = ""
) -> HttpResponse:
    limit = WrongLinks()
    may_ask = limit.allow_request(cast("Any", request), cast("Any", None))
    try:
        arrival = visits.by_link(
            pk, platform, request.GET.dict(), panel, may_ask=may_ask
        )
    except GenieError as error:
        if error.code == "too-many-links":
            return too_many(render(request, "429.html"), limit.wait())
        if error.code == "who-are-you":
            limit.one_more(request)
        status = 404 if error.code == "not-this-study" else 400
        status = status if error.permanent else 503
        context = {"sentence": error.message}
        return render(request, "worker_site/link_refused.html", context, status=status)
    if arrival.session.is_vouched is None and may_ask:
        limit.one_more(request)
    begin(request, arrival)
    if visits.is_over(arrival.session) or not visits.may_work(arrival.session):
        return redirect("work:finished")
    there = _to_pool(arrival.session.worker, arrival.session.campaign.pool_id)
    # A study for speakers of a language can name it in its link; otherwise the
    # browser's language is used.
    if (language := request.GET.get("lang", "")) in dict(settings.LANGUAGES):
        there.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
    return there


@never_cache
@require_GET
def finish_visit(request: HttpRequest) -> HttpResponse:
    visit = visit_of(request)
    if visit is None:
        return redirect("work:home")
    session = visit.session
    n_done = visits.n_done(session)
    leaves = "leave" in request.GET and not n_done
    at_end = leaves or visits.is_over(session) or not visits.may_work(session)
    outcome = "returned" if leaves else visits.outcome(session)
    back = visits.way_back(visit, outcome) if at_end else Completion("none")
    context = {
        "visit": visit,
        "at_end": at_end,
        "outcome": outcome,
        "back": back,
        "n_done": n_done,
        "pool": session.campaign.pool_id,
        "debriefing": session.campaign.hit_type.form.get(STUDY, {}).get("debriefing"),
        "share_done": SHARE_DONE if used_up(session.worker, [session.campaign]) else "",
    }
    return render(request, "worker_site/finished.html", context)


def _to_work(
    request: HttpRequest, user: AbstractBaseUser, found: Invitation, sentence: str = ""
) -> HttpResponse:
    worker = Worker.objects.get(user_id=user.pk)
    campaign = found.campaign
    pools = [campaign.pool_id if campaign else found.pool_id, *found.limited_to]
    for pool in open_pools(worker):
        if pool in pools:
            return _to_pool(worker, pool)
    messages.success(
        request, sentence or _("Welcome. Choose what you would like to do.")
    )
    return redirect("work:home")


def _to_pool(worker: Worker, pool: str) -> HttpResponse:
    agreed = consented_pools(worker, [pool])
    return redirect("work:instructions" if agreed else "work:consent", pool=pool)
