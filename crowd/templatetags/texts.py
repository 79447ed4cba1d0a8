from django import template
from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from crowd.hit_templates.form import PLAIN
from crowd.hit_templates.formats import format_text

register = template.Library()


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
