from __future__ import annotations

from django.db import models

from crowd.workers.models.worker import Worker


class DrawnOrder(models.Model):
    """In which order a worker gets the campaigns of a pool: one round, as it was drawn."""

    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="drawn_orders"
    )
    pool = models.CharField(max_length=100)
    number = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    # numbers of campaigns; one with several turns in the round is there several times
    campaigns = models.JSONField()
    # how many of these turns are over
    n_taken = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["worker", "pool", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "pool", "number"], name="drawn_order_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool} · {self.number}"
