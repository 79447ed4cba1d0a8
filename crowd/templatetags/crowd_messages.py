from django import template

from crowd.messages.models import Message

register = template.Library()


@register.simple_tag(takes_context=True)
def n_unread_messages(context: template.Context) -> int:
    user = context["request"].user
    if user.pk is None:
        return 0
    return Message.objects.filter(worker__user_id=user.pk, read_at=None).count()
