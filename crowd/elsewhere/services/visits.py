"""Visits by link: a person comes from a platform, works on our pages, and returns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from crowd.campaigns.services import claim
from crowd.elsewhere.models import (
    ExternalCampaign,
    ExternalSession,
    OutwardCall,
    PanelSource,
)
from crowd.elsewhere.services import attested, collect, study
from crowd.elsewhere.services.study_places import AT_WORK
from crowd.hits.models import Assignment, Campaign
from crowd.hits.services.platforms import connect
from crowd.platforms.base import Completion, Identity, Outcome, Platform, get
from crowd.platforms.panel import Panel
from crowd.workers.models.worker import Exclusion
from crowd.workers.selectors.eligible import first_unseen, is_open, used_up
from crowd.workers.selectors.requirements import unmet
from crowd.workers.services.invitations import register_worker
from genie.lib.errors import GenieError
from genie.lib.unguessable import name_for

PANEL = Panel.slug


@dataclass(frozen=True)
class Arrival:
    session: ExternalSession
    panel: str = ""
    back_to: str = ""
    at_most: int | None = None


def by_link(
    campaign_pk: int,
    platform: str,
    parameters: Mapping[str, str],
    panel: str = "",
    *,
    may_ask: bool = True,
) -> Arrival:
    """Start the visit of a person with a campaign's link; the same link continues it.

    Raises
    ------
    GenieError
        ``who-are-you`` and ``link-not-signed`` if the link does not identify the
        person, ``not-this-study`` if it leads nowhere, ``too-many-links`` if the
        platform must be asked and `may_ask` is False.
    """
    campaign = Campaign.objects.filter(pk=campaign_pk, platform=platform).first()
    # A campaign that is over is let through: a person in the middle of a visit still
    # needs the way back.
    if campaign is None or campaign.state == Campaign.State.SCHEDULED:
        raise GenieError(gettext("There is no such work."), code="not-this-study")
    source = _source(platform, panel)
    adapter = _adapter(platform, source)
    who = adapter.identity(parameters)
    is_vouched = _check(campaign, adapter, who, may_ask=may_ask)
    worker = register_worker(
        platform_worker_id=who.worker_id,
        platform=platform,
        simulated=campaign.simulated,
    )
    session = collect.arrive(campaign, worker, who.session_id, "started", is_vouched)
    attested.note_visit(session, source)
    return Arrival(session, panel, who.back_to, at_most(session, source))


def again(session: ExternalSession, panel: str = "", back_to: str = "") -> Arrival:
    source = _source(session.campaign.platform, panel)
    return Arrival(session, panel, back_to, at_most(session, source))


def at_most(session: ExternalSession, source: PanelSource | None) -> int | None:
    """Return the maximal assignments of a visit; None: no limit."""
    if source is not None:
        return source.items_per_visit or None
    place = ExternalCampaign.objects.filter(campaign=session.campaign_id).first()
    return place.place_size if place is not None else None


def next_assignment(arrival: Arrival) -> Assignment | None:
    session = arrival.session
    at_most = arrival.at_most
    if is_over(session) or (at_most is not None and n_done(session) >= at_most):
        # Work that was begun may still be submitted.
        assignment = claim.open_assignment(session.worker, timezone.now())
    else:
        # Only from the campaign for which the platform sent and pays them.
        assignment = claim.next_assignment(session.worker, only=session.campaign)
    if assignment is None:
        finish(session)
    else:
        collect.record_work(session, assignment)
    return assignment


def may_work(session: ExternalSession) -> bool:
    worker = session.worker
    if claim.open_assignment(worker, timezone.now()) is not None:
        return True
    campaign = session.campaign
    return (
        is_open(worker, campaign)
        and not unmet(worker, [campaign], timezone.now())
        and not used_up(worker, [campaign])
        and bool(first_unseen(worker.pk, campaign.pk))
    )


def is_over(session: ExternalSession) -> bool:
    return session.collected_at is not None or session.status != "started"


def n_done(session: ExternalSession) -> int:
    states = [state for state in AT_WORK if state != Assignment.State.ACCEPTED]
    return session.work.filter(assignment__state__in=states).count()


def finish(session: ExternalSession) -> None:
    """Store that a visit has ended.

    A person who got no work may look again later, if no platform waits for them.
    """
    if n_done(session) or session.campaign.platform != PANEL:
        own = ExternalSession.objects.filter(pk=session.pk)
        ended = own.filter(collected_at=None).update(collected_at=timezone.now())
        if ended and session.is_vouched is None:
            study.ask_again(own, connect(session.campaign.platform))


def outcome(session: ExternalSession) -> Outcome:
    shut_out = Exclusion.objects.filter(
        worker=session.worker_id, pool=session.campaign.pool_id
    ).exists()
    if session.worker.excluded or shut_out or session.is_vouched is False:
        return "failed-check"
    return "completed" if n_done(session) else "screened-out"


def way_back(arrival: Arrival, outcome: Outcome) -> Completion:
    session = arrival.session
    campaign = session.campaign
    adapter = _adapter(campaign.platform, _source(campaign.platform, arrival.panel))
    who = Identity(
        session.worker.platform_worker_id, session.session_id, back_to=arrival.back_to
    )
    if campaign.platform != PANEL:
        # Never from the link: a person who knew another study's key would get its code.
        offered = OutwardCall.objects.filter(
            campaign=campaign, kind=OutwardCall.Kind.PUBLISH
        ).first()
        who = replace(who, back_to=offered.key if offered else "")
    return adapter.completion(who, outcome)


def options_of(source: PanelSource) -> Mapping[str, Any]:
    ways = {
        "completed": source.completed,
        "screened-out": source.screened_out,
        "failed-check": source.failed_check,
    }
    return {
        "name": source.name,
        "worker_parameter": source.worker_parameter,
        "session_parameter": source.session_parameter,
        "study_parameter": source.study_parameter,
        "ways_out": {name: way for name, way in ways.items() if way},
        # Derived and not stored: pseudonyms last as long as their key.
        "secret": name_for("panel", source.name),
        "link_secret": source.link_secret,
    }


def _check(
    campaign: Campaign, adapter: Platform, who: Identity, *, may_ask: bool
) -> bool | None:
    """Check a link; return whether its platform confirms it, None without an answer."""
    if not adapter.capabilities.external:
        return True
    place = ExternalCampaign.objects.filter(campaign=campaign).first()
    if place is None or place.platform_id != who.study_id:
        raise GenieError(
            gettext(
                "This link belongs to another study; open it again where you found it."
            ),
            code="not-this-study",
        )
    known = ExternalSession.objects.filter(
        campaign=campaign,
        session_id=who.session_id,
        worker__platform_worker_id=who.worker_id,
    ).first()
    if known is None and not may_ask:
        raise GenieError(
            "Too many links had no valid signature.", code="too-many-links"
        )
    is_vouched = known.is_vouched if known else adapter.vouches_for(who)
    # None lets people in: `study.ask_again` asks until the platform answers.
    if is_vouched is False:
        raise GenieError(
            gettext("%(title)s does not know this session; open the study there again.")
            % {"title": adapter.title},
            code="who-are-you",
        )
    return is_vouched


def _source(platform: str, panel: str) -> PanelSource | None:
    if platform != PANEL:
        return None
    source = PanelSource.objects.filter(name=panel, is_open=True).first()
    if source is None:
        raise GenieError(gettext("There is no such panel."), code="not-this-study")
    return source


def _adapter(platform: str, source: PanelSource | None) -> Platform:
    return get(PANEL, options_of(source)) if source is not None else connect(platform)
