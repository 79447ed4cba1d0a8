from django import template

register = template.Library()
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


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
