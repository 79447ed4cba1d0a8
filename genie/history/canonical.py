"""JSON with a single spelling, so that it can be hashed (RFC 8785)."""

import hashlib
import json
import math
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

# the largest whole number that every JSON reader has exactly (RFC 8785, 3.2.2.3)
_LARGEST = 2**53 - 1


def canonical(value: Any) -> bytes:
    """Return a value as the one JSON text that RFC 8785 allows, in UTF-8.

    Parameters
    ----------
    value : dict, list, tuple, str, int, float, bool or None
        Keys are strings.

    Returns
    -------
    bytes
        Without spaces, keys sorted by their UTF-16 code units (section 3.2.3), strings
        with minimal escapes (3.2.2.2), numbers as in ECMAScript (3.2.2.3).

    Raises
    ------
    ValueError
        For NaN, infinities, whole numbers beyond 2**53 - 1 and halves of surrogate
        pairs.
    TypeError
        For other types.
    """
    return _text(value).encode()


def commitment(salt: bytes, text: bytes) -> str:
    """Commit to a text: SHA-256(salt || text), which reveals nothing without the salt."""
    return hashlib.sha256(salt + text).hexdigest()


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Real):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return (
            f"{{{','.join(f'{_text(name)}:{_text(value[name])}' for name in names)}}}"
        )
    raise TypeError(f"{type(value).__name__} has no canonical JSON.")


def _number(value: Real) -> str:
    if isinstance(value, Integral):
        if abs(int(value)) > _LARGEST:
            raise ValueError(f"{value} is not exact in JSON.")
        return str(int(value))
    if not math.isfinite(value):
        raise ValueError(f"{value} has no JSON.")
    if value == 0:
        return "0"
    # Python finds the same shortest digits, but formats them differently.
    sign, figures, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits, minus = "".join(map(str, figures)), "-" if sign else ""
    # the number of digits before the decimal point
    point = len(digits) + int(exponent)
    if 0 < point <= 21:
        whole, rest = digits[:point].ljust(point, "0"), digits[point:]
        return minus + (f"{whole}.{rest}" if rest else whole)
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{minus}{mantissa}e{point - 1:+d}"
