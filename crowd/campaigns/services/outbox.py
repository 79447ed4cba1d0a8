"""Outward calls: stored first, then sent, then completed, never sent twice.

A call is planned, being sent, done or failed. It is committed as being sent before
anything leaves this machine, so after a crash its outcome can be determined: it is sent
again with the same token while tokens are valid, and looked up first after that.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from crowd.elsewhere.models import ExternalSession, OutwardCall
from crowd.hits.models import Assignment, Campaign
from crowd.platforms.base import Result, Sent
from genie.lib.unguessable import name_for

Kind = OutwardCall.Kind
State = OutwardCall.State
# How long a look at a campaign holds it. It is longer than a job may run, so a killed
# job's hold ends.
LEASE = timedelta(minutes=11)
# Tokens are valid for 24 hours on the server's clock.
TOKEN_LIFE = timedelta(hours=23)
AT_ONCE = 500


def plan(campaign: Campaign, kind: Kind, name: str, **fields: Any) -> OutwardCall:
    # The key is unique, so two processes that plan the same call create one row.
    call, _ = OutwardCall.objects.get_or_create(
        key=key_of(kind, name), defaults={"campaign": campaign, "kind": kind, **fields}
    )
    return call


def plan_override(campaign: Campaign, assignment: Assignment, message: str) -> None:
    """Store that the platform must approve work it has as rejected."""
    session = ExternalSession.objects.get(work__assignment=assignment)
    plan(
        campaign,
        Kind.DECIDE,
        f"{session.pk}.override",
        session=session,
        worker=session.worker,
        wish="override",
        message=message[:1024],
    )


def key_of(kind: Kind, name: str) -> str:
    """Return a key that no other site with the same account uses."""
    calls = OutwardCall.objects.filter(key__startswith="genie.").order_by("pk")
    # After a rotation of the pseudonym key, no call may get a second key.
    first = calls.values_list("key", flat=True).first()
    site = first.split(".")[1] if first else name_for("ledger")[:8]
    return f"genie.{site}.{kind.lower()}.{name}"


def plan_numbered(
    campaign: Campaign, kind: Kind, name: str, **fields: Any
) -> OutwardCall:
    """Store a call that may be needed again later, each time as a new one.

    A call that is still on its way counts as the one needed now.
    """
    before = OutwardCall.objects.filter(
        campaign=campaign, kind=kind, **{k: fields[k] for k in _ABOUT if k in fields}
    )
    waiting = before.filter(state__in=[State.PLANNED, State.SENDING]).first()
    if waiting is not None:
        return waiting
    return plan(campaign, kind, f"{name}.{before.count()}", **fields)


_ABOUT = ("hit", "session", "worker", "entry")


def due(
    campaign: Campaign, *kinds: Kind, maybe_sent_only: bool = False
) -> QuerySet[OutwardCall]:
    waiting = OutwardCall.objects.filter(
        campaign=campaign, kind__in=kinds, state__in=[State.PLANNED, State.SENDING]
    )
    if maybe_sent_only:
        waiting = waiting.filter(first_sent_at__isnull=False)
    return waiting.order_by("pk")


def take(
    calls: Iterable[OutwardCall], now: datetime, *, repeatable: bool = True
) -> list[tuple[OutwardCall, Sent]]:
    """Store that these calls are being sent, and whether they may have been before.

    A call that cannot be repeated without harm is taken at most once, ever; staff must
    then find its outcome. A process that resumes after another look at the campaign has
    begun gets no calls.
    """
    # Not by a join, which would put the conditions on the call into a subquery, too. A
    # query that waits for a write of the same row must check them again after it.
    others = Campaign.objects.filter(
        pk=OuterRef("campaign"), external__busy_until__isnull=False
    ).exclude(external__busy_until=now + LEASE)
    taken = []
    for call in calls:
        sent = _when_sent(call, now)
        # As it was when we chose how to send it.
        unchanged = OutwardCall.objects.filter(
            pk=call.pk, first_sent_at=call.first_sent_at
        )
        rows = unchanged.exclude(Exists(others))
        if repeatable:
            rows = rows.filter(state__in=[State.PLANNED, State.SENDING])
        else:
            rows = rows.filter(state=State.PLANNED, first_sent_at=None)
        first = call.first_sent_at or now
        # This must be committed before anything leaves this machine, so callers open no
        # transaction.
        if rows.update(state=State.SENDING, first_sent_at=first, last_sent_at=now):
            taken.append((call, sent))
    return taken


def note_result(
    call: OutwardCall, sent: Sent, result: Result, now: datetime
) -> OutwardCall:
    """Complete a row with the platform's result at once; return it as stored."""
    values: dict[str, Any] = {
        "code": result.code[:32],
        "trouble": "" if result.state == "done" else result.message[:300],
    }
    if result.state == "done":
        values |= {
            "state": State.DONE,
            "done_at": now,
            "platform_id": result.platform_id[:100],
        }
    elif result.state == "refused":
        values |= {"state": State.FAILED, "done_at": now}
    elif result.state == "again":
        values["state"] = State.PLANNED
        if sent == "never":
            # It surely did not happen, so the next time is the first time.
            values["first_sent_at"] = None
    # A call that another process completed stays completed. A call it is sending stays
    # so, too.
    rows = OutwardCall.objects.filter(pk=call.pk, state=State.SENDING)
    if result.state == "again":
        rows = rows.filter(last_sent_at=now)
    rows.update(**values)
    call.refresh_from_db()
    return call


def posted_hits(campaign: Campaign) -> tuple[dict[int, str], Counter[int], set[int]]:
    """Return the platform's names of HITs, its places in each, and refused HITs."""
    names: dict[int, str] = {}
    n_places: Counter[int] = Counter()
    refused: set[int] = set()
    calls = OutwardCall.objects.filter(
        campaign=campaign, kind__in=[Kind.POST, Kind.EXTEND], hit__isnull=False
    )
    for hit, kind, state, name, n in calls.values_list(
        "hit", "kind", "state", "platform_id", "n"
    ):
        if state == State.FAILED:
            refused.add(hit)
        else:
            n_places[hit] += n
        if kind == Kind.POST and state == State.DONE:
            names[hit] = name
    return names, n_places, refused


def stuck(campaign: Campaign) -> QuerySet[OutwardCall]:
    """Return calls that staff should check: refused, or of unknown outcome.

    A refusal because a HIT was taken before its reward changed is left out.
    """
    refused = Q(state=State.FAILED) & ~Q(kind=Kind.RETYPE)
    return OutwardCall.objects.filter(
        refused | Q(state=State.SENDING), campaign=campaign
    ).order_by("pk")


def _when_sent(call: OutwardCall, now: datetime) -> Sent:
    if call.first_sent_at is None:
        return "never"
    return "lately" if now - call.first_sent_at < TOKEN_LIFE else "long-ago"
