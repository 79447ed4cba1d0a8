from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crowd.requester.models import Requester

Arguments = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Call:
    requester: Requester
    operation: str
    now: datetime


Handler = Callable[[Call, Arguments], Answer]
HANDLERS: dict[str, Handler] = {}


def handles(name: str) -> Callable[[Handler], Handler]:
    def enter(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return enter
