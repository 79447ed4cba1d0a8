"""Words for workers: names of work, lengths of time, and what times on a page mean."""

from django import template
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from crowd.hits.selectors.wording import title_now

register = template.Library()
# On a button, and within a sentence; other severities are called as the task calls them.
_SEVERITIES = {
    "neutral": (_("Neutral remark"), _("neutral remark")),
    "minor": (_("Minor error"), _("minor error")),
    "major": (_("Major error"), _("major error")),
    "critical": (_("Critical error"), _("critical error")),
}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@register.filter
def roughly(seconds: float) -> str:
    """Say how long something takes, in one unit.

    Examples
    --------
    >>> roughly(25.4), roughly(89), roughly(100), roughly(86_400)
    ('25 seconds', '89 seconds', '2 minutes', '24 hours')
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
    """Name a severity on the button that marks an error with it.

    Examples
    --------
    >>> severity_button("minor"), severity_button("odd")
    ('Minor error', 'odd')
    """
    return str(_SEVERITIES.get(name, (name, name))[0])


@register.filter
def severity_words(name: str) -> str:
    """Name a severity within a sentence.

    Examples
    --------
    >>> severity_words("critical")
    'critical error'
    """
    return str(_SEVERITIES.get(name, (name, name))[1])


@register.filter
def numbers(n_done: int, n: int) -> str:
    """Give the numbers of the next HITs of somebody: one, or those of a page.

    Examples
    --------
    >>> numbers(4, 1), numbers(4, 3)
    ('5', '5–7')
    """
    return f"{n_done + 1}–{n_done + n}" if n > 1 else f"{n_done + 1}"


@register.simple_tag
def zone_name() -> str:
    """Name the zone in which the page gives its times."""
    return timezone.get_current_timezone_name().replace("_", " ")
