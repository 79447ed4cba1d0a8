"""HIT layouts: pages with fields that a requester's programs fill in."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from crowd.requester.models.account import Requester
from crowd.requester.models.records import RequesterLayout
from crowd.requester.questions.template import as_question, fields_of
from crowd.requester.views.access import for_requesters, page
from genie.lib.errors import GenieError
from genie.lib.serving.post_only import post_or


class LayoutForm(forms.Form):
    name = forms.CharField(max_length=100)
    page = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
        strip=False,
        help_text=(
            "HTML, with ${name} where a value goes. A fragment gets a form and a "
            "button; a whole page is shown unchanged and needs its own form."
        ),
    )

    def clean_page(self) -> str:
        text: str = self.cleaned_data["page"].replace("\r\n", "\n")
        try:
            as_question(text)
        except GenieError as error:
            raise forms.ValidationError(error.message) from None
        return text


@for_requesters
def layouts(request: HttpRequest, requester: Requester) -> HttpResponse:
    """List the layouts with their ids and fields; take a new one."""
    form = LayoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = RequesterLayout.objects.create(requester=requester, **form.cleaned_data)
        messages.success(request, f"Added. Its HITLayoutId is {made.entity_id}.")
        return redirect("requester:layouts", requester.customer_id)
    rows = RequesterLayout.objects.filter(requester=requester, retired_at=None)
    return page(
        request,
        requester,
        "layouts",
        400 if form.errors else 200,
        form=form,
        layouts=[(row, fields_of(row.page)) for row in rows],
    )


@post_or("requester:layouts", "customer_id")
@for_requesters
def retire(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    """Make no more HITs of a layout; those that there are stay as they are."""
    row = get_object_or_404(RequesterLayout, pk=pk, requester=requester)
    row.retired_at = row.retired_at or timezone.now()
    row.save(update_fields=["retired_at"])
    messages.success(request, f"No new HITs are made of {row.name}.")
    return redirect("requester:layouts", requester.customer_id)
