"""Secrets in addresses: what stands in for a cookie where there is none.

A requester's page lives in a frame of its own origin, or of none, so it has no session
here. The address it is loaded from and submits to holds a token that belongs to one
assignment. The public id of the assignment does not do: requesters hear of it in
notifications, while the work is open.
"""

from datetime import timedelta

from django.core.signing import BadSignature, Signer, TimestampSigner

from crowd.requester.models.account import RequesterAssignment, RequesterHIT

# A turn's address ends with the turn; one to look at a HIT ends by itself.
_LOOK_FOR = timedelta(hours=1)
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"


def for_turn(assignment: RequesterAssignment) -> str:
    """Give the token of one worker's turn."""
    return _turns().sign(assignment.entity_id)


def for_preview(hit: RequesterHIT) -> str:
    """Give the token under which a HIT's page can be seen and nothing sent in."""
    return _previews().sign(hit.entity_id)


def turn_of(token: str) -> RequesterAssignment | None:
    """Give the assignment of a token; None for anything else."""
    rows = RequesterAssignment.objects.select_related(
        "hit__hit_type__requester", "worker__worker"
    )
    try:
        entity_id = _turns().unsign(token)
    except BadSignature:
        return None
    return rows.filter(entity_id=entity_id).first()


def previewed(token: str) -> RequesterHIT | None:
    """Give the HIT that a token lets see; None for anything else."""
    try:
        entity_id = _previews().unsign(token, max_age=_LOOK_FOR)
    except BadSignature:
        return None
    return RequesterHIT.objects.filter(entity_id=entity_id).first()


def _turns() -> Signer:
    return Signer(sep=".", salt="crowd.requester_api.turn")


def _previews() -> TimestampSigner:
    return TimestampSigner(sep=".", salt="crowd.requester_api.preview")
