"""What a HIT's page noticed while it was answered: a few small numbers, no content."""

from __future__ import annotations

from django.db import models

from crowd.hits.models.assignment import Assignment


class Signals(models.Model):
    """How one assignment was worked on, as far as its page's script could tell.

    Missing where the page ran without JavaScript or the work was done on a platform's
    page. Staff see it as evidence; it is on no public page and in no release.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="signals", primary_key=True
    )
    # from the opening of the page; None: nothing was changed on it
    first_change_seconds = models.PositiveIntegerField(null=True, blank=True)
    n_changes = models.PositiveSmallIntegerField(default=0)
    # how often the page lost the focus or was hidden by another tab
    n_focus_losses = models.PositiveSmallIntegerField(default=0)
    n_copies = models.PositiveSmallIntegerField(default=0)
    n_pastes = models.PositiveSmallIntegerField(default=0)
    # the field that only programs read was filled in as it asks
    canary = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "signals"

    def __str__(self) -> str:
        return f"signals of assignment {self.pk}"
