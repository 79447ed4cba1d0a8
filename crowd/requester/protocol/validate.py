"""Check a request against the published API, whose model comes with botocore.

Rules that need words are in `limits.py` and in the operations.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from crowd.requester.protocol.aws import published_model
from crowd.requester.protocol.errors import bad_value
from crowd.requester.protocol.limits import check_limits

# Half of a surrogate pair cannot be stored, and PostgreSQL refuses NUL.
_UNSTORABLE = frozenset({"\0", *map(chr, range(0xD800, 0xE000))})
_MAX = {"integer": 2**31 - 1, "long": 2**53}
_LATEST = 4_102_444_800  # the year 2100


def check_request(operation: str, arguments: Any) -> dict[str, Any]:
    _structure(published_model().operation_model(operation).input_shape, arguments, "")
    checked: dict[str, Any] = arguments
    check_limits(checked)
    return checked


def _check(shape: Any, value: Any, name: str) -> None:
    _KINDS[shape.type_name](shape, value, name)


def _structure(shape: Any, value: Any, name: str) -> None:
    if not isinstance(value, Mapping):
        raise bad_value(name or "request", value)
    given = {key for key, inner in value.items() if inner is not None}
    for missing in sorted({*shape.required_members} - given):
        raise bad_value(f"{name}.{missing}" if name else missing, "")
    for key, inner in value.items():
        label = f"{name}.{key}" if name else str(key)
        if key not in shape.members:
            raise bad_value(label, inner)
        if inner is not None:
            _check(shape.members[key], inner, label)


def _list(shape: Any, value: Any, name: str) -> None:
    if not isinstance(value, list):
        raise bad_value(name, value)
    for item in value:
        _check(shape.member, item, name)


def _string(shape: Any, value: Any, name: str) -> None:
    if (
        not isinstance(value, str)
        or not _UNSTORABLE.isdisjoint(value)
        or not _between(shape, len(value))
        or (shape.enum and value not in shape.enum)
        # `$` alone would accept a final line feed.
        or not re.fullmatch(shape.metadata.get("pattern", r"(?s:.*)"), value)
    ):
        raise bad_value(name, ascii(value)[1:-1] if isinstance(value, str) else value)


def _whole(shape: Any, value: Any, name: str) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or abs(value) > _MAX[shape.type_name]
        or not _between(shape, value)
    ):
        raise bad_value(name, value)


def _boolean(_: Any, value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise bad_value(name, value)


def _timestamp(_: Any, value: Any, name: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= _LATEST:
        raise bad_value(name, value)


def _between(shape: Any, n: int) -> bool:
    limits: Mapping[str, int] = shape.metadata
    return limits.get("min", n) <= n <= limits.get("max", n)


_KINDS: dict[str, Callable[[Any, Any, str], None]] = {
    "structure": _structure,
    "list": _list,
    "string": _string,
    "integer": _whole,
    "long": _whole,
    "boolean": _boolean,
    "timestamp": _timestamp,
}
