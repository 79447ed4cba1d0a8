import secrets

from django.conf import settings
from django.db import models


def new_pseudonym() -> str:
    """Draw the worker's name for use outside the worker tables."""
    return f"w-{secrets.token_hex(5)}"


class Worker(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="worker",
    )
    platform = models.CharField(max_length=32, default="selfhosted")
    platform_worker_id = models.CharField(max_length=200)
    pseudonym = models.CharField(max_length=32, unique=True, default=new_pseudonym)
    # Answers of programs that play workers are never shown as people's.
    simulated = models.BooleanField(default=False)
    excluded = models.BooleanField(
        default=False, help_text="Gets no work in any campaign."
    )
    came_by = models.ForeignKey(
        "crowd.Invitation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="workers",
    )
    # Slugs of the tasks whose work they are invited to; empty: all work.
    limited_to = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "platform_worker_id"], name="worker_platform_id"
            )
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def by_link(self) -> bool:
        """Whether they rate by a study's link, unpaid and without an account."""
        return self.came_by_id is not None and self.user_id is None


class Invitation(models.Model):
    """A link by which people become workers, one by default; only its hash is stored."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=200, blank=True)
    # a code that newcomers enter in addition, if other people may see the link
    code = models.CharField(max_length=40, blank=True)
    places = models.PositiveIntegerField(default=1)
    n_taken = models.PositiveIntegerField("taken", default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # The address to send the link to; emptied when it is sent.
    mail = models.EmailField(blank=True)
    # Slugs of the tasks that newcomers may work on; empty: all.
    limited_to = models.JSONField(default=list, blank=True)
    # the qualification that newcomers have from the start
    group = models.SlugField(max_length=100, blank=True)
    # The task that newcomers come for: they see its work first.
    pool = models.ForeignKey("crowd.Pool", models.PROTECT, null=True, blank=True)
    # Its work is only for workers who came by one of its invitations.
    campaign = models.ForeignKey(
        "crowd.Campaign",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="invitations",
    )
    guests = models.ManyToManyField(Worker, related_name="invited_to", blank=True)
    # when its last place was taken
    used_at = models.DateTimeField("used up at", null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.note or f"invitation {self.pk}"


class ConsentVersion(models.Model):
    sha256 = models.CharField(max_length=64, unique=True)
    html = models.TextField()
    first_given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.sha256[:12]


class Consent(models.Model):
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="consents"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    text_sha256 = models.CharField(max_length=64)
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "pool", "text_sha256"], name="consent_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool}"


class Exclusion(models.Model):
    """A worker's exclusion from one pool, set and lifted by the upper apps."""

    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="exclusions"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    message = models.TextField(help_text="Shown to the worker.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["worker", "pool"], name="exclusion_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool}"


class Pause(models.Model):
    """A pause of a worker in one pool, until it is decided whether their work counts."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="pauses")
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["worker", "pool"], name="pause_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool}"


class Profile(models.Model):
    worker = models.OneToOneField(
        Worker, on_delete=models.CASCADE, related_name="profile"
    )
    # IANA name; empty: unknown, shown as UTC
    time_zone = models.CharField(max_length=64, blank=True)
    # of the pages; empty: the browser's
    language = models.CharField(max_length=16, blank=True)
    # whether the next HIT of the same kind opens automatically
    goes_on = models.BooleanField("goes on", default=True)
    wants_news = models.BooleanField("wants news of work", default=False)
    # the newest campaigns in an e-mail to them, and when the last e-mail was sent
    news_until = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)
    # self-reported: language codes, separated by spaces, and a country code
    languages = models.CharField(max_length=300, blank=True)
    country = models.CharField(max_length=2, blank=True)
    country_said_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return str(self.worker)
