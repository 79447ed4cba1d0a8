"""Whole addresses of pages, where no request says what the site is called."""

from django.conf import settings
from django.urls import reverse


def absolute(name: str, *args: object) -> str:
    """Give a page's address with the site's own before it."""
    base: str = settings.GENIE["SITE_URL"]
    return base.rstrip("/") + reverse(name, args=args)
