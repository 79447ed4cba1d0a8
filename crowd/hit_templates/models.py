"""HIT templates that came with a task's bundle, in the database beside its HITs."""

from django.db import models


class BroughtTemplate(models.Model):
    """One template, as it came; it never changes, so that what people saw stays known."""

    slug = models.SlugField(max_length=50, unique=True)
    # name to text: template.html and the like
    files = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug
