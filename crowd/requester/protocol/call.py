"""One call of an operation, and the table of operations."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crowd.requester.models.account import Requester

Arguments = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """Who calls what, and when; every row an operation touches is this requester's."""

    requester: Requester
    operation: str
    now: datetime


Handler = Callable[[Call, Arguments], Answer]
HANDLERS: dict[str, Handler] = {}


def handles(name: str) -> Callable[[Handler], Handler]:
    """Enter a function into the table of operations."""

    def enter(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return enter
