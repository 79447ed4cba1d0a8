"""Who may open a requester's page: the accounts that staff have named for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from crowd.requester.models.account import Requester
from crowd.requester.selectors.desk import open_to
from genie.lib.typing import Account

View = Callable[..., HttpResponse]


def for_requesters(view: View) -> View:
    """Call the view with the requester of the address; others find nothing there."""

    @never_cache
    @login_required
    @wraps(view)
    def checked(
        request: HttpRequest, customer_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        mine = open_to(cast("Account", request.user))
        requester = mine.filter(customer_id=customer_id).first()
        if requester is None:
            raise Http404("There is no such requester.")
        return view(request, requester, *args, **kwargs)

    return checked


def page(
    request: HttpRequest, requester: Requester, tab: str, status: int = 200, **more: Any
) -> HttpResponse:
    """Show one of a requester's pages, under its name."""
    context = {"requester": requester, "tab": tab, **more}
    return render(request, f"requester/{tab}.html", context, status=status)
