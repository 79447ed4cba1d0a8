from datetime import UTC

from django.db import models

from genie.history.canonical import canonical, commitment


class LogEntry(models.Model):
    """One line of the log: never changed except its number, which a job assigns.

    The hash is over `body`: time, kind and commitment. `data` and `salt`, from which
    the commitment is computed, are shown if the content is public; without them the
    commitment reveals nothing.
    """

    class Kind(models.TextChoices):
        SCORE = "score", "score"
        RESULT = "result", "result of a comparison or joint evaluation"
        DECISION = "decision", "decision of staff or a team"
        BAN = "ban", "exclusion of a worker"
        BUDGET = "budget", "budget"
        RELEASE = "release", "release"

    # from 0; empty until a job has added it to the tree
    number = models.PositiveBigIntegerField(null=True, blank=True, unique=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # SHA-256 of salt and data
    commitment = models.CharField(max_length=64)
    salt = models.CharField(max_length=64, blank=True)
    # canonical JSON
    data = models.TextField(blank=True)
    # key of its row
    about = models.PositiveBigIntegerField(null=True, blank=True)
    # hashes of all perfect subtrees that end with it, its leaf's first
    hashes = models.BinaryField(default=b"", editable=False)

    class Meta:
        app_label = "genie"
        verbose_name = "entry of the public log"
        verbose_name_plural = "entries of the public log"
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="ban")
                | ~models.Q(salt="") & ~models.Q(data=""),
                name="only_a_ban_is_emptied",
            )
        ]
        indexes = [
            models.Index(fields=["kind", "about"], name="log_about"),
            models.Index(
                fields=["id"], condition=models.Q(number=None), name="log_not_numbered"
            ),
        ]

    def __str__(self) -> str:
        number = "not numbered yet" if self.number is None else self.number
        return f"{self.get_kind_display()} ({number})"

    @property
    def opens(self) -> bool:
        """Check whether salt and data match the commitment, or are a person's, deleted."""
        if not self.salt:
            return not self.data and self.kind == self.Kind.BAN
        salt = bytes.fromhex(self.salt)
        return self.commitment == commitment(salt, self.data.encode())

    @property
    def body(self) -> bytes:
        at = self.at.astimezone(UTC)
        return canonical(
            {
                "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",
                "commitment": self.commitment,
                "kind": self.kind,
            }
        )


class LogHead(models.Model):
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
