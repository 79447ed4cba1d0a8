from django.db import models


class BroughtTemplate(models.Model):
    """A template as it came; rows never change, so that what workers saw stays known."""

    slug = models.SlugField(max_length=50, unique=True)
    # name to text: template.html and the like
    files = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug
