from datetime import timedelta

from crowd.requester.models import RequestToken
from crowd.requester.protocol.call import Call
from crowd.requester.protocol.errors import TurkError

LIFE = timedelta(hours=24)


def made_before(call: Call, token: str | None) -> RequestToken | None:
    if token is None:
        return None
    return RequestToken.objects.filter(
        requester=call.requester,
        operation=call.operation,
        token=token,
        used_at__gt=call.now - LIFE,
    ).first()


def refuse_repeated(call: Call, token: str | None) -> None:
    if made_before(call, token):
        raise TurkError(f'The idempotency token "{token}" has already been processed.')


def remember(call: Call, token: str | None, made: str) -> None:
    """Store what a token created; an expired token of the same text starts anew."""
    if token is not None:
        RequestToken.objects.update_or_create(
            requester=call.requester,
            operation=call.operation,
            token=token,
            defaults={"made": made, "used_at": call.now},
        )
