"""Entries of the public log, and its heads."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import models

from genie.history.canonical import canonical, commitment


class LogEntry(models.Model):
    """One line of the log: never changed but for its number, which a job gives.

    What is hashed is `body`: time, kind and commitment. `data` and `salt`, which the
    commitment is made of, are shown where everybody may see what they say; without them
    it says nothing.
    """

    class Kind(models.TextChoices):
        SCORE = "score", "score"
        RESULT = "result", "result of a comparison or joint evaluation"
        DECISION = "decision", "decision of staff or a team"
        BAN = "ban", "exclusion of a worker"
        BUDGET = "budget", "budget"
        RELEASE = "release", "release"

    # from 0; empty until a job has put it into the tree
    number = models.PositiveBigIntegerField(null=True, blank=True, unique=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # SHA-256 of salt and data
    commitment = models.CharField(max_length=64)
    salt = models.CharField(max_length=64, blank=True)
    # canonical JSON
    data = models.TextField(blank=True)
    # key of the row that it is about
    about = models.PositiveBigIntegerField(null=True, blank=True)
    # hashes of all perfect subtrees that end with it, its leaf's first
    hashes = models.BinaryField(default=b"", editable=False)

    class Meta:
        app_label = "genie"
        verbose_name = "entry of the public log"
        verbose_name_plural = "entries of the public log"
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["kind", "about"], name="log_about"),
            models.Index(
                fields=["id"],
                condition=models.Q(number=None),
                name="log_not_numbered",
            ),
        ]

    def __str__(self) -> str:
        number = "not numbered yet" if self.number is None else self.number
        return f"{self.get_kind_display()} ({number})"

    @classmethod
    def sealed(
        cls, kind: str, data: Mapping[str, Any], about: int | None, at: datetime
    ) -> LogEntry:
        """Make an entry with a salt of its own, without saving it."""
        text, salt = canonical(dict(data)), secrets.token_bytes(32)
        return cls(
            kind=kind,
            at=at,
            about=about,
            data=text.decode(),
            salt=salt.hex(),
            commitment=commitment(salt, text),
        )

    @property
    def opens(self) -> bool:
        """Tell whether salt and data are those that it was made of, or deleted."""
        if not self.salt:
            return not self.data
        salt = bytes.fromhex(self.salt)
        return self.commitment == commitment(salt, self.data.encode())

    @property
    def body(self) -> bytes:
        """Give what is hashed, from the columns that show it."""
        at = self.at.astimezone(UTC)
        return canonical(
            {
                "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",
                "commitment": self.commitment,
                "kind": self.kind,
            }
        )


class LogHead(models.Model):
    """The state of the log at a moment: how many entries, and their Merkle root."""

    size = models.PositiveBigIntegerField(primary_key=True)
    root = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        app_label = "genie"
        verbose_name = "head of the public log"
        verbose_name_plural = "heads of the public log"
        ordering = ["-size"]

    def __str__(self) -> str:
        return f"{self.size} entries, {self.root}"
