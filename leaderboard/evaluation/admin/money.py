from __future__ import annotations


def dollars(cents: int) -> str:
    """Write cents as staff read them.

    Examples
    --------
    >>> dollars(123456), dollars(-5)
    ('$1,234.56', '-$0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) / 100:,.2f}"
