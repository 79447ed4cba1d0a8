from django import template
from django.conf import settings

from genie.accounts.staff import staff_may, staff_may_somewhere

register = template.Library()


@register.simple_tag
def of_operator(name: str) -> str:
    return str(settings.GENIE[name])


@register.simple_tag(takes_context=True)
def may(
    context: template.RequestContext, permission: str, pool: str | None = None
) -> bool:
    user = context["request"].user
    if pool is None:
        return staff_may_somewhere(user, permission)
    return staff_may(user, permission, pool)
