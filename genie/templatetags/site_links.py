from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def of_operator(name: str) -> str:
    return str(settings.GENIE[name])
