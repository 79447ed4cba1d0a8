from collections.abc import Mapping
from typing import Any

from django.conf import settings

from crowd.hits.models import Campaign
from crowd.platforms import base


def connect(slug: str) -> base.Platform:
    options: Mapping[str, Any] = settings.GENIE.get("PLATFORMS", {}).get(slug, {})
    return base.get(slug, options)


def can(slug: str) -> base.Capabilities:
    return base.kind_of(slug).capabilities


def external_slugs() -> list[str]:
    return [
        slug
        for slug, kind in base.all_platforms().items()
        if kind.capabilities.external
    ]


def paying_slugs() -> list[str]:
    return [
        slug for slug, kind in base.all_platforms().items() if kind.capabilities.pays
    ]


def pays_itself(campaign: Campaign) -> bool:
    """Check whether the platform pays workers, so that this site must not."""
    return can(campaign.platform).pays
