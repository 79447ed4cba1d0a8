"""Access to the worker site: workers see only their own work."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from crowd.elsewhere.pages.visit import visitor
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.profiles import profile_of, zone_of

View = Callable[..., HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    """Check whether the page's script asks, which cannot follow redirects to pages."""
    return request.headers.get("Accept", "").startswith("application/json")


def for_workers(view: View) -> View:
    @never_cache
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        guest = visitor(request)
        if guest is not None:
            return _called(view, request, guest, args, kwargs)
        if not request.user.is_authenticated:
            if wants_json(request):
                sentence = gettext(
                    "You are signed out. Sign in in another tab, then submit again."
                )
                return JsonResponse({"error": sentence, "final": False}, status=401)
            return redirect_to_login(_page_to_come_back_to(request))
        workers = Worker.objects.select_related("profile")
        worker = workers.filter(user_id=request.user.pk).first()
        if worker is None:
            return render(request, "worker_site/not_a_worker.html", status=403)
        return _called(view, request, worker, args, kwargs)

    return checked


def _called(
    view: View, request: HttpRequest, worker: Worker, args: Any, kwargs: Any
) -> HttpResponse:
    request.profile = profile_of(worker)  # type: ignore[attr-defined]
    with timezone.override(zone_of(worker)):
        return view(request, worker, *args, **kwargs)


def _page_to_come_back_to(request: HttpRequest) -> str:
    return request.get_full_path() if request.method == "GET" else reverse("work:home")
