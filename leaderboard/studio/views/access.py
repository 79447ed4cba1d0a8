"""Access to the studio, and the frame of its pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from genie.accounts.staff import staff_may
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep
from leaderboard.submissions.selectors import Staff

P = ParamSpec("P")
MAY_INVITE = "crowd.add_invitation"
STEPS = (
    ("files", "Files"),
    ("ask", "Questions"),
    ("people", "People"),
    ("start", "Price and start"),
)


def for_makers(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Admit staff who may add tasks; everyone else gets a 404."""

    @login_required
    @wraps(view)
    def wrapper(
        request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not staff_may(request.user, Staff.IMPORT_TASKS):
            raise Http404("There is no such page.")
        return view(request, *args, **kwargs)

    return wrapper


def own_draft(request: HttpRequest, pk: int) -> Draft:
    return get_object_or_404(Draft, pk=pk, owner=request.user.pk)


def page(
    request: HttpRequest,
    name: str,
    draft: Draft | None,
    context: dict[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    free = draft is not None and keep.ask_of(draft).volunteers
    context = {"steps": STEPS, "colleagues": free, **context}
    frame = {"here": "studio", "draft": draft, "step": name}
    template = f"leaderboard/studio/{name}.html"
    return render(request, template, {**frame, **context}, status=status)
