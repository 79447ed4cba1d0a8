"""The way into a requester's sandbox, and its simulated workers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from crowd.requester.models.account import Requester
from crowd.requester.services import sandbox as service
from crowd.requester.views.access import for_requesters


@require_http_methods(["GET", "HEAD", "POST"])
@for_requesters
def sandbox(request: HttpRequest, requester: Requester) -> HttpResponse:
    """Open the sandbox; in it, let the simulated workers do what is there.

    Who reloads the address, or comes back to it after signing in, gets the sandbox's page
    if it was made: only the button makes it.
    """
    if request.method != "POST":
        made = Requester.objects.filter(sandbox_of=requester).first()
        return redirect("requester:desk", (made or requester).customer_id)
    if not requester.is_sandbox:
        return redirect("requester:desk", service.of(requester).customer_id)
    n = service.work(requester)
    answers = "answer" if n == 1 else "answers"
    messages.success(request, f"The simulated workers gave {n} {answers}.")
    return redirect("requester:desk", requester.customer_id)
