"""A view asked without the middleware, which has tests elsewhere."""

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.template.response import TemplateResponse
from django.test import RequestFactory
from django.urls import resolve


def call_view(user, address, fields=None):
    """Return what a view answers: to a POST with fields, or else to a GET."""
    kind = {"content_type": "application/json"} if address.startswith("/api/") else {}
    factory = RequestFactory()
    request = (
        factory.get(address)
        if fields is None
        else factory.post(address, fields, **kind)
    )
    request.user, request.session = user, {}
    request._messages, request._dont_enforce_csrf_checks = CookieStorage(request), True
    view, args, kwargs = resolve(request.path)
    try:
        answer = view(request, *args, **kwargs)
    except PermissionDenied:
        answer = HttpResponse(status=403)
    except Http404:
        answer = HttpResponse(status=404)
    answer.wsgi_request = request
    return answer


def leave_lists_empty(monkeypatch):
    """Read no rows of the admin's lists, and draw neither them nor the menu."""
    monkeypatch.setattr(admin.site, "each_context", lambda _request: {})
    monkeypatch.setattr(TemplateResponse, "rendered_content", "")
    monkeypatch.setattr(ChangeList, "get_results", _find_none)
    monkeypatch.setattr(
        ChangeList, "get_filters", lambda *_: ([], False, {}, False, False)
    )


def _find_none(page, _request):
    page.result_list, page.result_count = [], 0
