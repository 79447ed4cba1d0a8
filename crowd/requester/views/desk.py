"""A requester's account, their access keys and how to use them."""

from __future__ import annotations

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowd.requester.models.account import AccessKey, Requester, RequesterEntry
from crowd.requester.protocol import clock
from crowd.requester.selectors import desk as numbers
from crowd.requester.services import access_keys, money
from crowd.requester.services.settle import settle
from crowd.requester.views.access import for_requesters, page
from genie.lib.serving.post_only import post_or
from genie.lib.typing import Account

# The secret waits in the session until the next page has shown it, once.
_NEW = "new-requester-key"
ENTRIES = 50


class KeyForm(forms.Form):
    note = forms.CharField(
        label="What it is for",
        max_length=200,
        help_text="For instance the program that signs with it.",
    )


@never_cache
@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the requester whose page is open to this account, or list them."""
    mine = numbers.open_to(cast("Account", request.user))
    if len(mine) == 1:
        return redirect("requester:desk", mine[0].customer_id)
    return render(request, "requester/home.html", {"requesters": mine})


@for_requesters
def desk(request: HttpRequest, requester: Requester) -> HttpResponse:
    """Show the account and the keys; make a key."""
    form = KeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = cast("Account", request.user)
        key, secret = access_keys.create_key(requester, user, form.cleaned_data["note"])
        request.session[_NEW] = {"id": key.key_id, "secret": secret}
        return redirect("requester:desk", requester.customer_id)
    now = clock.now()
    settle(requester, now)
    requester.refresh_from_db()
    new = None
    keys = AccessKey.objects.filter(requester=requester, revoked_at=None)
    waiting = request.session.get(_NEW)
    if waiting and keys.filter(key_id=waiting["id"]).exists():
        new = request.session.pop(_NEW)
    entries = RequesterEntry.objects.filter(requester=requester).order_by("-pk")
    return page(
        request,
        requester,
        "desk",
        400 if form.errors else 200,
        form=form,
        keys=keys.select_related("created_by"),
        new=new,
        account=money.account(requester),
        spent=numbers.spent(requester),
        work=numbers.work_of(requester, now),
        entries=entries[:ENTRIES],
        endpoint=request.build_absolute_uri(reverse("turk:endpoint")),
    )


@post_or("requester:desk", "customer_id")
@for_requesters
def revoke(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    """Let a key sign nothing any more."""
    key = get_object_or_404(AccessKey, pk=pk, requester=requester)
    access_keys.revoke_key(key, cast("Account", request.user), "by the requester")
    messages.success(request, f"{key.key_id} is revoked and signs nothing any more.")
    return redirect("requester:desk", requester.customer_id)
