from django import template

from genie.lib.serving import languages

register = template.Library()


@register.filter
def dollars(cents: int) -> str:
    """Format cents in the page's language.

    Examples
    --------
    >>> dollars(184), dollars(0)
    ('$1.84', '$0.00')
    """
    return languages.dollars(cents)


@register.filter
def signed_dollars(cents: int) -> str:
    """Format a booked amount with its sign.

    Examples
    --------
    >>> signed_dollars(184), signed_dollars(-20)
    ('$1.84', '−$0.20')
    """
    return f"{'−' if cents < 0 else ''}{dollars(abs(cents))}"
