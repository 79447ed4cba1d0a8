import os
import re
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

POSTGRES_OPTIONS: dict[str, str | int] = {
    # Without it, each request waits minutes for a server that is down.
    "connect_timeout": 5,
    # Each side gives the other up half a minute after its last sign: otherwise a machine
    # without power would hold its locks for two hours.
    **{"keepalives_idle": 10, "keepalives_interval": 5, "tcp_user_timeout": 30_000},
    # PostgreSQL would first compile queries that it expects to be slow, on each
    # request: a worker's home with work in a hundred pools took a second with it, and
    # .05 s without.
    "options": "-c jit=off -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 "
    "-c tcp_keepalives_count=4 -c tcp_user_timeout=30000 "
    # sees a lost peer in the middle of a query, too
    "-c client_connection_check_interval=5000",
}


class ConfigurationError(Exception): ...


def text(name: str, default: str = "") -> str:
    """Read a variable, or the file that ``NAME_FILE`` points to (for secrets).

    Examples
    --------
    >>> text("GENIE_DOCTEST_UNSET", "fallback")
    'fallback'
    """
    if file := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise ConfigurationError(
                f"{name}_FILE names a file that cannot be read: {file}."
            ) from None
    return os.environ.get(name, default)


def in_address(name: str, *, shortest: int) -> str:
    """Read a secret that is part of an address: long, of letters, digits, - and _."""
    value = text(name)
    if value and not re.fullmatch(rf"[A-Za-z0-9_-]{{{shortest},200}}", value):
        raise ConfigurationError(
            f"{name} must be {shortest} to 200 letters, digits, - or _."
        )
    return value


def origin(name: str) -> str:
    """Read an origin: scheme and host, with a port if it is not the default.

    Examples
    --------
    >>> origin("GENIE_DOCTEST_UNSET")
    ''
    """
    value = text(name).lower().rstrip("/")
    if value and not re.fullmatch(r"https?://[a-z0-9.-]+(:\d+)?", value):
        raise ConfigurationError(
            f"{name} must be an origin such as https://pages.example, not {value!r}."
        )
    return value


def flag(name: str, default: bool = False) -> bool:
    """Read a yes/no variable; all other values are refused.

    Examples
    --------
    >>> flag("GENIE_DOCTEST_UNSET", True)
    True
    """
    value = os.environ.get(name)
    if value is None or value == "":
        return default
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off"}:
        return False
    raise ConfigurationError(f"{name} must be yes or no, not {value!r}.")


def integer(
    name: str, default: int, minimum: int = 0, maximum: int | None = None
) -> int:
    """Read a whole number of at least `minimum` and at most `maximum`."""
    value = os.environ.get(name)
    if value is None or value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        raise ConfigurationError(
            f"{name} must be a whole number, not {value!r}."
        ) from None
    if number < minimum:
        raise ConfigurationError(f"{name} must be at least {minimum}, not {number}.")
    if maximum is not None and number > maximum:
        raise ConfigurationError(f"{name} must be at most {maximum}, not {number}.")
    return number


def percent(name: str, default: int, minimum: int = 1, maximum: int = 99) -> float:
    """Read a percentage of at least `minimum` and at most `maximum` as a share.

    Examples
    --------
    >>> percent("GENIE_DOCTEST_UNSET", 90)
    0.9
    """
    return integer(name, default, minimum=minimum, maximum=maximum) / 100


def zone(name: str, default: str) -> str:
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(
            f"{name} must be a time zone such as Europe/Berlin, not {value!r}."
        ) from None
    return value


def dates(name: str) -> list[str]:
    """Read a comma-separated list of dates, 2026-12-25."""
    listed = words(name)
    for word in listed:
        try:
            date.fromisoformat(word)
        except ValueError:
            raise ConfigurationError(
                f"{name} must be dates such as 2026-12-25, not {word!r}."
            ) from None
    return listed


def words(name: str, default: str = "") -> list[str]:
    """Read a comma-separated list.

    Examples
    --------
    >>> words("GENIE_DOCTEST_UNSET", "a, b")
    ['a', 'b']
    """
    return [part.strip() for part in text(name, default).split(",") if part.strip()]
