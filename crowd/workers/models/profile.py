"""What workers choose, and what they say about themselves."""

from __future__ import annotations

from django.db import models

from crowd.workers.models.worker import Worker


class Profile(models.Model):
    """One worker's choices; all of it may stay empty, and goes with the account."""

    worker = models.OneToOneField(
        Worker, on_delete=models.CASCADE, related_name="profile"
    )
    # as the IANA database names it; empty: not known, and shown as UTC
    time_zone = models.CharField(max_length=64, blank=True)
    # of the pages; empty: as the browser asks
    language = models.CharField(max_length=16, blank=True)
    # whether the next HIT of the same kind comes after each
    goes_on = models.BooleanField("goes on", default=True)
    wants_news = models.BooleanField("wants news of work", default=False)
    # the newest campaigns that they have been told of, and when the last mail went out
    news_until = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)
    # as they say themselves: codes of languages, separated by spaces, and of a country
    languages = models.CharField(max_length=300, blank=True)
    country = models.CharField(max_length=2, blank=True)
    country_said_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return str(self.worker)
