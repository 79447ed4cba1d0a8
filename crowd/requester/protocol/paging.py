import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.signing import BadSignature, Signer
from django.db.models import Model, QuerySet

from crowd.requester.protocol.call import Answer, Arguments, Call
from crowd.requester.protocol.errors import bad_value

Row = TypeVar("Row", bound=Model)

USUAL_SIZE = 10


def page(
    call: Call,
    arguments: Arguments,
    rows: QuerySet[Row],
    name: str,
    render: Callable[[Row], Any],
    first: Sequence[Row] = (),
    load: Callable[[QuerySet[Row]], QuerySet[Row, Any]] | None = None,
) -> Answer:
    """Return one page of rows by ascending key; the last full page has a token too.

    `first` holds rows that come before and are in no table, with negative keys. `load`
    prefetches for the rows of the page only.
    """
    size = arguments.get("MaxResults") or USUAL_SIZE
    signer = _signer(call, arguments)
    start = _start(signer, arguments.get("NextToken"))
    page_rows = [row for row in first if start is None or row.pk > start][:size]
    after = rows.filter(pk__gt=max(start or 0, 0)).order_by("pk")
    after = after[: size - len(page_rows)]
    if load is not None:
        pks = list(after.values_list("pk", flat=True))
        after = load(rows.model._default_manager.filter(pk__in=pks)).order_by("pk")
    page_rows += after
    answer: Answer = {
        "NumResults": len(page_rows),
        name: [render(row) for row in page_rows],
    }
    if len(page_rows) == size:
        answer["NextToken"] = signer.sign(str(page_rows[-1].pk))
    return answer


def _start(signer: Signer, token: str | None) -> int | None:
    if token is None:
        return None
    try:
        return int(signer.unsign(token))
    except BadSignature:
        raise bad_value("NextToken", token) from None


def _signer(call: Call, arguments: Arguments) -> Signer:
    # The size may change from page to page.
    question = {
        name: value
        for name, value in arguments.items()
        if name not in {"NextToken", "MaxResults"}
    }
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    return Signer(salt=f"requester:{call.requester.pk}:{call.operation}:{digest}")
