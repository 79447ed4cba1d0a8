"""Long lists in pages; a token belongs to one requester and one question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.signing import BadSignature, Signer

from crowd.requester_api.call import Answer, Arguments, Call
from crowd.requester_api.errors import bad_value

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    Row = TypeVar("Row", bound=Model)

USUAL_SIZE = 10


def page(
    call: Call,
    arguments: Arguments,
    rows: QuerySet[Row],
    name: str,
    render: Callable[[Row], Any],
) -> Answer:
    """Give one page of rows by ascending key; the last full page has a token too."""
    size = arguments.get("MaxResults") or USUAL_SIZE
    signer = _signer(call, arguments)
    found = list(
        rows.filter(pk__gt=_start(signer, arguments.get("NextToken"))).order_by("pk")[
            :size
        ]
    )
    answer: Answer = {"NumResults": len(found), name: [render(row) for row in found]}
    if len(found) == size:
        answer["NextToken"] = signer.sign(str(found[-1].pk))
    return answer


def _start(signer: Signer, token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(signer.unsign(token))
    except BadSignature:
        raise bad_value("NextToken", token) from None


def _signer(call: Call, arguments: Arguments) -> Signer:
    question = {
        name: value
        for name, value in arguments.items()
        if name not in {"NextToken", "MaxResults"}
    }
    text = json.dumps(question, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Signer(salt=f"requester:{call.requester.pk}:{call.operation}:{digest}")
