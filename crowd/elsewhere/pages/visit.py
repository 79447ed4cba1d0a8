"""Visitors who came by a link and have no account, remembered during their visit."""

from django.http import HttpRequest

from crowd.elsewhere.models.external import ExternalSession
from crowd.elsewhere.services import visits
from crowd.elsewhere.services.visits import Arrival
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError

KEY = "crowd_visit"


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
