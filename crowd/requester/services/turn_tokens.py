"""Secrets in addresses: what stands in for a cookie where there is none.

A requester's page lives in a frame of its own origin, or of none, so it has no session
here. The address it is loaded from and submits to holds a token that belongs to one
assignment. The public id of the assignment does not do: requesters hear of it in
notifications, while the work is open.
"""

from __future__ import annotations

from django.core.signing import BadSignature, Signer

from crowd.requester.models.account import RequesterAssignment, RequesterHIT

NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"


def for_turn(assignment: RequesterAssignment) -> str:
    """Give the token of one worker's turn."""
    return _signer("turn").sign(assignment.entity_id)


def for_preview(hit: RequesterHIT) -> str:
    """Give the token under which a HIT's page can be seen and nothing sent in."""
    return _signer("preview").sign(hit.entity_id)


def turn_of(token: str) -> RequesterAssignment | None:
    """Give the assignment of a token; None for anything else."""
    rows = RequesterAssignment.objects.select_related(
        "hit__hit_type__requester", "worker__worker"
    )
    return rows.filter(entity_id=_unsigned("turn", token)).first()


def previewed(token: str) -> RequesterHIT | None:
    """Give the HIT that a token lets see; None for anything else."""
    return RequesterHIT.objects.filter(entity_id=_unsigned("preview", token)).first()


def _unsigned(purpose: str, token: str) -> str:
    try:
        return _signer(purpose).unsign(token)
    except BadSignature:
        return ""


def _signer(purpose: str) -> Signer:
    return Signer(sep=".", salt=f"crowd.requester_api.{purpose}")
