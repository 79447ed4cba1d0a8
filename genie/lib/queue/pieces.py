"""Long work in pieces: finished steps are stored, so that another process continues."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
# of work that kills its process each time
MAX_STARTS = 3


class Later(Exception):
    """The time of this piece is over; the next one continues."""


class Kept(ABC):
    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def once(self, name: str, find: Callable[[], T]) -> T:
        """Run a step unless it was done before; return its result, as JSON values."""
        if name not in self.kept:
            # as read again, so that it is the same for every process
            self.kept[name] = json.loads(json.dumps(find()))
            self.save(name)
        found: T = self.kept[name]
        return found

    @abstractmethod
    def save(self, name: str) -> None:
        """Store a step's result for the next process."""
