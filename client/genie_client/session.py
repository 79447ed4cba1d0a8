"""One run of the command: its options, the site and token, and where it writes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from genie_client import stored, words
from genie_client.client import Client
from genie_client.progress import Bar


class Session:
    """A command, and the client that it uses."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.site, self.token = place(options)
        self._bar = Bar("")
        self.client = Client(self.site, self.token, timeout=options.timeout)

    def say(self, found: Any, as_words: Callable[[Any], str]) -> None:
        """Write what was found: words, or one JSON value."""
        text = (
            json.dumps(found, ensure_ascii=False, indent=2)
            if self.options.json
            else as_words(found)
        )
        sys.stdout.write(text + "\n")

    def bar(self, what: str) -> Bar:
        """Return a progress bar, shown only on a terminal."""
        self._bar = Bar(what)
        return self._bar

    def tell(self, event: dict[str, Any]) -> None:
        """Print progress unless the output is JSON."""
        self._bar.clear()
        sys.stderr.write(words.event(event) + "\n")


def place(options: argparse.Namespace) -> tuple[str, str | None]:
    """Find the site and the token: as given, else as `login` has kept them."""
    kept = {} if options.site and options.token else stored.read()
    site = options.site or kept.get("site", "")
    # a token is shown to the site that it was made on, and to no other
    own = site.rstrip("/") == kept.get("site", "").rstrip("/")
    return site, options.token or (kept.get("token") if own else None)
