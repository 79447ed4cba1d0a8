"""Admin pages that create rows with a separate form."""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

Form = TypeVar("Form", bound=forms.Form)
_PAGE = "admin/add_by_form.html"


def filled_in(
    model_admin: ModelAdmin[Any], request: HttpRequest, kind: type[Form]
) -> tuple[Form, bool]:
    if not model_admin.has_add_permission(request):
        raise PermissionDenied
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = kind(*sent)
    return form, form.is_bound and form.is_valid()


def adding(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    form: forms.Form,
    *,
    title: str,
    button: str,
    page: str = _PAGE,
    **more: Any,
) -> HttpResponse:
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": title,
        "button": button,
        "form": form,
        "media": model_admin.media + form.media,
        **more,
    }
    return TemplateResponse(request, page, context)
