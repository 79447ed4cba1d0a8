"""Take a table of results back, with what was approved and rejected."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from crowd.requester.batches import review as batch_review
from crowd.requester.batches.forms import ReviewForm
from crowd.requester.models.records import RequesterBatch
from genie.lib.admin.log import note
from genie.lib.admin.rows import person
from genie.lib.errors import GenieError


def review(model_admin: Any, request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the table, and decide what it says."""
    batch = RequesterBatch.objects.filter(pk=pk).select_related("requester").first()
    if not model_admin.has_act_permission(request):
        raise PermissionDenied
    if batch is None:
        raise Http404("There is no such batch.")
    form = ReviewForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            done = batch_review.apply(
                batch, batch_review.read_reviews(form.cleaned_data["table_file"])
            )
        except GenieError as error:
            form.add_error("table_file", error.message)
        else:
            sentence = (
                f"Approved {done.n_approved}, rejected {done.n_rejected}; "
                f"{done.n_before} already had the same decision."
            )
            note(person(request), batch, sentence)
            messages.success(request, sentence)
            return redirect("admin:crowd_requesterbatch_changelist")
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Review {batch.name}",
        "form": form,
        "made": None,
        "button": "Submit decisions",
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/crowd/requesterbatch/add.html", context)
