"""A view asked without the middleware, which has tests elsewhere."""

from django.contrib.messages.storage.cookie import CookieStorage
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from django.urls import resolve


def asked(user, address, fields=None):
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
