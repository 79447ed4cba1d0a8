from django.conf import settings
from django.urls import reverse


def absolute(name: str, *args: object) -> str:
    base: str = settings.GENIE["SITE_URL"]
    return base.rstrip("/") + reverse(name, args=args)
