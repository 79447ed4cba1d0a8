from django import template
from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from crowd.hit_templates.form import PLAIN
from crowd.hit_templates.formats import format_text
from crowd.messages.models import Message

register = template.Library()
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


@register.filter
def laid_out(text: str, most: int = 0) -> SafeString:
    """Render a text in its layout (`formats.Text`); plain texts keep their lines.

    At most `most` characters, if given.
    """
    cut = Truncator(str(text)).chars(most) if most else str(text)
    found = format_text(cut, getattr(text, "layout", PLAIN))
    if found is None:
        return linebreaksbr(cut, autoescape=True)
    return format_html('<div class="laid {}">{}</div>', found.kind, found.html)


@register.filter
def duration(seconds: int) -> str:
    """Return a length of time in words, in at most two units.

    Examples
    --------
    >>> duration(600), duration(86_400), duration(5_430), duration(1)
    ('10 minutes', '1 day', '1 hour 30 minutes', '1 second')
    """
    parts = []
    left = int(seconds)
    for name, size in _UNITS:
        n, left = divmod(left, size)
        if n:
            parts.append(f"{n} {name}{'' if n == 1 else 's'}")
    return " ".join(parts[:2]) or "no time"


@register.simple_tag(takes_context=True)
def n_unread_messages(context: template.Context) -> int:
    user = context["request"].user
    if user.pk is None:
        return 0
    return Message.objects.filter(worker__user_id=user.pk, read_at=None).count()
