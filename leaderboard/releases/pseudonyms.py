"""Pseudonyms of workers that are valid within one release only."""

import hashlib
import hmac
import secrets
from collections.abc import Collection

from leaderboard.evaluation.estimates import UNNAMED


class Pseudonyms:
    """Pseudonyms from a temporary key; those of unidentified raters are recognizable."""

    def __init__(
        self, key: bytes | None = None, nobodies: Collection[int] = ()
    ) -> None:
        self._nobodies = frozenset(nobodies)
        self._key = key or secrets.token_bytes(32)
        self._known: dict[int, str] = {}

    def pseudonym_of(self, worker_pk: int) -> str:
        if worker_pk not in self._known:
            # keyed: a plain hash of small numbers could be inverted by trying all of
            # them
            digest = hmac.digest(self._key, str(worker_pk).encode(), hashlib.sha256)
            begins = UNNAMED if worker_pk in self._nobodies else "r-"
            self._known[worker_pk] = f"{begins}{digest.hex()[:12]}"
        return self._known[worker_pk]
