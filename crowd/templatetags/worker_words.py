from django import template
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from crowd.hits.selectors import title_now

register = template.Library()
# On a button, and within a sentence; other severities keep the task's names.
_SEVERITIES = {
    "neutral": (_("Neutral remark"), _("neutral remark")),
    "minor": (_("Minor error"), _("minor error")),
    "major": (_("Major error"), _("major error")),
    "critical": (_("Critical error"), _("critical error")),
}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@register.filter
def roughly(seconds: float) -> str:
    """Return a length of time in words, in one unit.

    Examples
    --------
    >>> roughly(0), roughly(89), roughly(90), roughly(5_400), roughly(172_800)
    ('1 second', '89 seconds', '2 minutes', '2 hours', '2 days')
    """
    if seconds < 1.5 * _MINUTE:
        n = max(1, round(seconds))
        return ngettext("%(n)s second", "%(n)s seconds", n) % {"n": n}
    if seconds < 1.5 * _HOUR:
        n = round(seconds / _MINUTE)
        return ngettext("%(n)s minute", "%(n)s minutes", n) % {"n": n}
    if seconds < 2 * _DAY:
        n = round(seconds / _HOUR)
        return ngettext("%(n)s hour", "%(n)s hours", n) % {"n": n}
    n = round(seconds / _DAY)
    return ngettext("%(n)s day", "%(n)s days", n) % {"n": n}


register.filter("title_now", title_now)


@register.filter
def severity_button(name: str) -> str:
    """Return a severity's label on the button that marks errors.

    Examples
    --------
    >>> severity_button("minor"), severity_button("odd")
    ('Minor error', 'odd')
    """
    return str(_SEVERITIES.get(name, (name, name))[0])


@register.filter
def severity_words(name: str) -> str:
    """Return a severity within a sentence.

    Examples
    --------
    >>> severity_words("critical")
    'critical error'
    """
    return str(_SEVERITIES.get(name, (name, name))[1])


@register.filter
def numbers(n_done: int, n: int) -> str:
    """Return the numbers of a worker's next HITs: one, or those of a page.

    Examples
    --------
    >>> numbers(4, 1), numbers(4, 3)
    ('5', '5–7')
    """
    return f"{n_done + 1}–{n_done + n}" if n > 1 else f"{n_done + 1}"


@register.simple_tag
def zone_name() -> str:
    return timezone.get_current_timezone_name().replace("_", " ")
