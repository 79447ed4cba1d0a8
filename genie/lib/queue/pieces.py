"""Long work in pieces: what is done is kept, so that another process goes on from there."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Later(Exception):
    """The time of this piece is over: the rest is for the next one."""


class Kept(ABC):
    """The steps of some long work that are done, by name, with what each found."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def once(self, name: str, find: Callable[[], T]) -> T:
        """Do a step, unless it was done before; give what it found, in words of JSON."""
        if name not in self.kept:
            # as it is read again, so that it is the same whoever goes on
            self.kept[name] = json.loads(json.dumps(find()))
            self.save(name)
        found: T = self.kept[name]
        return found

    @abstractmethod
    def save(self, name: str) -> None:
        """Keep what a step found where the next process will look for it."""
