"""Addresses that the operator of a site gave, for the foot of its pages."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def of_operator(name: str) -> str:
    """Give an address of the operator's, empty where none is set."""
    return str(settings.GENIE[name])
