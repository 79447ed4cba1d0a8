from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from crowd.elsewhere.models import ExternalSession
from crowd.elsewhere.services import visits
from crowd.elsewhere.services.visits import Arrival
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.profiles import profile_of, zone_of
from genie.lib.database import prepare
from genie.lib.errors import GenieError

# Visitors who came by a link and have no account, remembered during their visit.
KEY = "crowd_visit"
# Raters by studies' links: pool -> worker, for any number of studies.
RATERS = "crowd_raters"


def begin(request: HttpRequest, arrival: Arrival) -> None:
    # A new key, so that a person who knew the old one does not share the visit.
    request.session.cycle_key()
    request.session[KEY] = {
        "session": arrival.session.pk,
        "panel": arrival.panel,
        "back_to": arrival.back_to,
    }


def visit_of(request: HttpRequest) -> Arrival | None:
    kept = request.session.get(KEY)
    if not kept:
        return None
    session = (
        ExternalSession.objects.filter(pk=kept["session"])
        .select_related("campaign__hit_type", "worker__profile")
        .first()
    )
    if session is None:
        return None
    try:
        return visits.again(session, kept["panel"], kept["back_to"])
    except GenieError:
        return None  # The panel was closed meanwhile.


def visitor(request: HttpRequest) -> Worker | None:
    """Return the worker who works here without an account.

    A signed-in worker whose visit is over is themselves again.
    """
    visit = visit_of(request)
    if visit is None:
        return None
    if request.user.is_authenticated and visits.is_over(visit.session):
        return None
    return visit.session.worker


def rater_here(request: HttpRequest, pool: str = "", pk: int = 0) -> Worker | None:
    """Return the rater by a study's link whose study or page this is, if any."""
    raters = request.session.get(RATERS)
    if not raters:
        return None
    workers = Worker.objects.filter(pk__in=raters.values()).select_related(
        "profile", "came_by"
    )
    its = raters.get(pool or request.POST.get("pool"))
    return (workers.filter(assignments=pk) if pk else workers.filter(pk=its)).first()


# Access to the worker site: workers see only their own work.
View = Callable[..., HttpResponse]

_read_account = prepare(
    lambda pk: get_user_model().objects.filter(pk=pk).select_related("worker__profile")
)


class AccountWithWorker(AuthenticationBackend):  # type: ignore[misc]
    def get_user(self, user_id: int) -> AbstractBaseUser | None:
        return next(filter(self.user_can_authenticate, _read_account(user_id)), None)


def wants_json(request: HttpRequest) -> bool:
    """Check whether the page's script asks, which cannot follow redirects to pages."""
    return request.headers.get("Accept", "").startswith("application/json")


def for_workers(view: View) -> View:
    @never_cache
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        guest = rater_here(
            request, kwargs.get("pool", ""), kwargs.get("pk", 0)
        ) or visitor(request)
        if guest is not None:
            return _call_view(view, request, guest, args, kwargs)
        if not request.user.is_authenticated:
            if wants_json(request):
                sentence = gettext(
                    "You are signed out. Sign in in another tab, then submit again."
                )
                return JsonResponse({"error": sentence, "final": False}, status=401)
            reads = request.method == "GET"
            way = request.get_full_path() if reads else reverse("work:home")
            return redirect_to_login(way)
        worker = getattr(request.user, "worker", None)
        if worker is None:
            return render(request, "worker_site/not_a_worker.html", status=403)
        return _call_view(view, request, worker, args, kwargs)

    return wrapper


def _call_view(
    view: View, request: HttpRequest, worker: Worker, args: Any, kwargs: Any
) -> HttpResponse:
    request.profile = profile_of(worker)  # type: ignore[attr-defined]
    request.by_link = worker.by_link  # type: ignore[attr-defined]
    with timezone.override(zone_of(worker)):
        return view(request, worker, *args, **kwargs)
