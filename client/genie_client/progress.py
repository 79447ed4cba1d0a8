"""Progress on a terminal; without one, no output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TextIO

_WIDTH = 24
Told = Callable[[int, int], None]


class Bar:
    """One line that is written over: a bar, or words, and gone at the end."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = sys.stderr if stream is None else stream
        self._on = self._stream.isatty()
        self._shown = ""

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write("\r" + " " * len(self._shown) + "\r")
            self._stream.flush()
            self._shown = ""

    def show(self, done: int, of: int) -> None:
        """Show the progress; clear the line at the end."""
        share = min(1.0, done / of) if of else 1.0
        filled = int(share * _WIDTH)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        self.say(f"{self._what} [{bar}] {share:4.0%}")
        if done >= of:
            self.clear()

    def say(self, text: str) -> None:
        """Overwrite the line on a terminal."""
        if not self._on or text == self._shown:
            return
        self._stream.write("\r" + text.ljust(len(self._shown)))
        self._stream.flush()
        self._shown = text


class Upload(io.BytesIO):
    """A body that tells how much of it has been sent."""

    def __init__(self, body: bytes, told: Told) -> None:
        super().__init__(body)
        self._all, self._told = len(body), told

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        self._told(self.tell(), self._all)
        return part
