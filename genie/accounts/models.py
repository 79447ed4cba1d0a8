from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy


class AccessToken(models.Model):
    class Scope(models.TextChoices):
        READ = "read", gettext_lazy("read everything the account can read")
        SUBMIT = "submit", gettext_lazy("submit systems, check files, manage webhooks")
        WITHDRAW = ("withdraw", gettext_lazy("withdraw submissions"))
        STAFF = "staff", gettext_lazy("staff operations; only for staff accounts")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens"
    )
    name = models.CharField(max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    # the last characters, by which people distinguish their tokens
    ending = models.CharField(max_length=4)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "genie"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} (…{self.ending})"

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def works(self) -> bool:
        return self.revoked_at is None and not self.is_expired


class TaskRole(models.Model):
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="task_roles"
    )
    role = models.ForeignKey("auth.Group", on_delete=models.CASCADE, related_name="+")
    # slug of the task; campaigns and bans use this name
    pool = models.CharField("task", max_length=100, db_index=True)
    created_at = models.DateTimeField("since", auto_now_add=True)

    class Meta:
        app_label = "genie"
        verbose_name = "role on a task"
        verbose_name_plural = "roles on tasks"
        ordering = ["pool", "role", "user"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "role", "pool"], name="task_role_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.pool}"


class PrivateRead(models.Model):
    class Way(models.TextChoices):
        PAGE = "page", gettext_lazy("page")
        ADMIN = "admin", gettext_lazy("admin")
        API = "api", gettext_lazy("API")
        FILE = "file", gettext_lazy("download")

    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    way = models.CharField("how", max_length=10, choices=Way.choices)
    # a model's label and the row's key, such as leaderboard.submission 12
    what = models.CharField(max_length=120, db_index=True)
    title = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=300, blank=True)
    pool = models.CharField("task", max_length=100, blank=True)
    at = models.DateTimeField("when", auto_now_add=True, db_index=True)

    class Meta:
        app_label = "genie"
        verbose_name = "read of private outputs"
        verbose_name_plural = "reads of private outputs"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.by} read {self.title or self.what}"
