from decimal import ROUND_CEILING, Decimal

from crowd.money.models import ExchangeRate
from genie.lib.errors import GenieError

OURS = "USD"


def rate_of(currency: str) -> ExchangeRate | None:
    """Return the rate of a platform's currency; None for our own.

    Raises
    ------
    GenieError
        ``wrong-currency`` if staff have stored no rate.
    """
    if currency == OURS:
        return None
    rate = ExchangeRate.objects.filter(currency=currency).order_by("-pk").first()
    if rate is None:
        raise GenieError(
            f"The account on the platform pays in {currency}, but budgets here are in "
            f"{OURS} and no exchange rate is stored, so nothing is published. Store a "
            f"rate in the admin, or use an account in {OURS}.",
            code="wrong-currency",
        )
    return rate


def there(cents: int, rate: ExchangeRate | None) -> int:
    """Convert our cents to the currency of a rate, rounded up."""
    return cents if rate is None else _up(cents / rate.dollars)


def here(amount: int, rate: ExchangeRate | None) -> int:
    """Convert an amount in a rate's currency to our cents, rounded up."""
    return amount if rate is None else _up(amount * rate.dollars)


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))


def in_full(amount: int, rate: ExchangeRate | None) -> str:
    """Format an amount in a rate's currency for staff.

    Examples
    --------
    >>> in_full(1234, None)
    '$12.34'
    """
    unit = "$" if rate is None else f"{rate.currency} "
    return f"{unit}{amount / 100:,.2f}"


def format_amount(cents: int, rate: ExchangeRate | None) -> str:
    """Format our cents for staff, with the amount in a rate's currency.

    Examples
    --------
    >>> format_amount(1234, None)
    '$12.34'
    """
    dollars = in_full(cents, None)
    return (
        dollars if rate is None else f"{dollars} ({in_full(there(cents, rate), rate)})"
    )
