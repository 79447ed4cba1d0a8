import hashlib
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from crowd.platforms.base import Requirements

N_APPROVED = "00000000000000000040"
P_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
FEEDBACK_CHARACTERS = 1024
MAX_LOCALES = 30
_EXISTS = re.compile(r'HIT with ID "([A-Z0-9]+)"')
_PROCESSED = re.compile(r"already been processed")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def token(environment: str, key: str) -> str:
    """Derive the token that makes a repeated request harmless from our key.

    Examples
    --------
    >>> len(token("sandbox", "post.1")), token("sandbox", "a") == token("sandbox", "a")
    (64, True)
    """
    return hashlib.sha256(f"{environment}|{key}".encode()).hexdigest()


def dollars(cents: int) -> str:
    """Format cents for requests.

    Examples
    --------
    >>> dollars(5), dollars(140)
    ('0.05', '1.40')
    """
    return f"{cents // 100}.{cents % 100:02d}"


def cents(amount: str) -> int:
    """Parse an amount of a response into cents, rounded down.

    Examples
    --------
    >>> cents("12.3"), cents("0.05")
    (1230, 5)
    """
    return int(Decimal(amount) * 100)


def feedback(text: str) -> str:
    r"""Remove control characters, and cut to 1,024 characters.

    Examples
    --------
    >>> feedback(" Thank\x00 you. ")
    'Thank you.'
    """
    return _CONTROL.sub("", text).strip()[:FEEDBACK_CHARACTERS]


def hit_in(message: str) -> str:
    """Return the id in a refusal because a HIT exists; empty if there is none.

    Examples
    --------
    >>> hit_in('The HIT with ID "3ABC" already exists. (1700000000000)')
    '3ABC'
    """
    match = _EXISTS.search(message)
    return match.group(1) if match else ""


def was_processed(message: str) -> bool:
    """Check whether a refusal says that the same request was carried out before.

    Examples
    --------
    >>> was_processed('The idempotency token "x" has already been processed.')
    True
    """
    return bool(_PROCESSED.search(message))


def qualification_requirements(
    requirements: Requirements,
    excluded_type: str,
    test_types: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the HIT type's requirements; excluded workers do not even see the work.

    The approval rate is 100 until a worker has 100 assignments, so it is required
    together with a number of them.

    Examples
    --------
    >>> made = qualification_requirements(Requirements(500, 98, ["US"]), "3X")
    >>> [demand["Comparator"] for demand in made]
    ['DoesNotExist', 'GreaterThanOrEqualTo', 'GreaterThanOrEqualTo', 'In']
    """
    demands: list[dict[str, Any]] = [
        _demand(
            excluded_type, "DoesNotExist", ActionsGuarded="DiscoverPreviewAndAccept"
        )
    ]
    if requirements.minimum_approved:
        n = requirements.minimum_approved
        demands.append(_demand(N_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[n]))
    if requirements.minimum_percent_approved:
        n = requirements.minimum_percent_approved
        demands.append(_demand(P_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[n]))
    if requirements.countries:
        countries = [{"Country": code} for code in requirements.countries[:MAX_LOCALES]]
        demands.append(_demand(LOCALE, "In", LocaleValues=countries))
    for kind, test in zip(test_types, requirements.tests, strict=True):
        n = test.pass_percent
        demands.append(_demand(kind, "GreaterThanOrEqualTo", IntegerValues=[n]))
    return demands


def _demand(kind: str, comparator: str, **more: Any) -> dict[str, Any]:
    return {
        "QualificationTypeId": kind,
        "Comparator": comparator,
        "ActionsGuarded": "Accept",
        **more,
    }
