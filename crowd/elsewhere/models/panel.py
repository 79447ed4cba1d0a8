from django.db import models


class PanelSource(models.Model):
    name = models.SlugField(
        max_length=40, unique=True, help_text="Part of the link; never changes."
    )
    title = models.CharField(max_length=100)
    worker_parameter = models.CharField(
        max_length=50,
        default="participantId",
        help_text="Name of the link parameter that identifies each person.",
    )
    session_parameter = models.CharField(max_length=50, blank=True)
    study_parameter = models.CharField(max_length=50, blank=True)
    completed = models.CharField(
        max_length=500,
        blank=True,
        help_text=(
            "A completion code to show, or an address to return to, with {worker}, "
            "{session} and {study} where the panel expects its own ids."
        ),
    )
    screened_out = models.CharField(
        max_length=500, blank=True, help_text="The same, for people who find no work."
    )
    failed_check = models.CharField(
        max_length=500,
        blank=True,
        help_text="The same, for people who were screened out.",
    )
    countries = models.CharField(
        max_length=300,
        blank=True,
        help_text=(
            "Two-letter codes of the countries where, as the panel guarantees, all of "
            "its people live; empty: it guarantees nothing."
        ),
    )
    items_per_visit = models.PositiveIntegerField(
        default=0,
        help_text="Number of HITs before people return to the panel; 0: all available.",
    )
    link_secret = models.CharField(
        max_length=200,
        blank=True,
        help_text="Shared with the panel; links without its signature are refused.",
    )
    is_open = models.BooleanField(
        default=True, help_text="Whether people from this panel are admitted."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "panel"

    def __str__(self) -> str:
        return self.title


class PlatformNotice(models.Model):
    """A notice that a platform sent: each is processed once, however often it comes."""

    platform = models.CharField(max_length=32)
    event_id = models.CharField(max_length=100)
    received_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "event_id"], name="platform_notice_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.event_id}"
