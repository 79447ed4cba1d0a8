"""Tokens in addresses, which replace cookies.

A requester's page lives in a frame with a separate origin, or none, so it has no
session here. Its address holds a token of one assignment. The public id of the
assignment would not do, because requesters get it in notifications while the work is
open.
"""

from datetime import timedelta

from django.core.signing import BadSignature, Signer, TimestampSigner

from crowd.requester.models.account import RequesterAssignment, RequesterHIT

# The address of a turn ends with the turn; that of a preview expires.
_LOOK_FOR = timedelta(hours=1)
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"


def for_turn(assignment: RequesterAssignment) -> str:
    return _turns().sign(assignment.entity_id)


def for_preview(hit: RequesterHIT) -> str:
    return _previews().sign(hit.entity_id)


def turn_of(token: str) -> RequesterAssignment | None:
    rows = RequesterAssignment.objects.select_related(
        "hit__hit_type__requester", "worker__worker"
    )
    try:
        entity_id = _turns().unsign(token)
    except BadSignature:
        return None
    return rows.filter(entity_id=entity_id).first()


def previewed(token: str) -> RequesterHIT | None:
    try:
        entity_id = _previews().unsign(token, max_age=_LOOK_FOR)
    except BadSignature:
        return None
    return RequesterHIT.objects.filter(entity_id=entity_id).first()


def _turns() -> Signer:
    return Signer(sep=".", salt="crowd.requester_api.turn")


def _previews() -> TimestampSigner:
    return TimestampSigner(sep=".", salt="crowd.requester_api.preview")
