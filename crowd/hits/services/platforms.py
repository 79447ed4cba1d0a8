"""The platforms as this site's settings configure them."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from crowd.hits.models.campaign import Campaign
from crowd.platforms import base


def connect(slug: str) -> base.Platform:
    """Give a platform that can be talked to, or say what is not set up."""
    options: Mapping[str, Any] = settings.GENIE.get("PLATFORMS", {}).get(slug, {})
    return base.get(slug, options)


def can(slug: str) -> base.Capabilities:
    """Say what a platform does by itself."""
    return base.kind_of(slug).capabilities


def external_slugs() -> list[str]:
    """List the platforms where somebody else's server must be told."""
    return [
        slug
        for slug, kind in base.all_platforms().items()
        if kind.capabilities.external
    ]


def paying_slugs() -> list[str]:
    """List the platforms that pay workers by themselves."""
    return [
        slug for slug, kind in base.all_platforms().items() if kind.capabilities.pays
    ]


def pays_itself(campaign: Campaign) -> bool:
    """Tell whether the platform pays workers, so that nobody here must."""
    return can(campaign.platform).pays
