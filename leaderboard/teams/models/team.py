from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "OWNER", gettext_lazy("owner")
        MEMBER = "MEMBER", gettext_lazy("member")

    team = models.ForeignKey(
        "leaderboard.Team", on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="team_memberships",
    )
    role = models.CharField(max_length=6, choices=Role.choices, default=Role.MEMBER)
    joined_at = models.DateTimeField(auto_now_add=True, null=True)

    class Meta:
        # the table's name from before members had roles
        db_table = "leaderboard_team_members"
        ordering = ["pk"]
        unique_together = [("team", "user")]

    def __str__(self) -> str:
        return f"{self.user}, {self.get_role_display()}"


class TeamInvitation(models.Model):
    """A link by which one person joins a team; only its hash is stored."""

    team = models.ForeignKey(
        "leaderboard.Team", on_delete=models.CASCADE, related_name="invitations"
    )
    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
    role = models.CharField(
        max_length=6, choices=Membership.Role.choices, default=Membership.Role.MEMBER
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation to {self.team}"
