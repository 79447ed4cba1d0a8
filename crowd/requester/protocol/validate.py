import math
from collections.abc import Callable, Mapping
from typing import Any

from crowd.requester.protocol.errors import bad_value
from crowd.requester.protocol.limits import check_limits
from crowd.requester.protocol.shapes import OPERATIONS, Shape

# Half of a surrogate pair cannot be stored, and PostgreSQL refuses NUL.
_UNSTORABLE = frozenset({"\0", *map(chr, range(0xD800, 0xE000))})
_MAX = {"integer": 2**31 - 1, "long": 2**53}
_LATEST = 4_102_444_800  # the year 2100


def check_request(operation: str, arguments: Any) -> dict[str, Any]:
    _structure(OPERATIONS[operation], arguments, "")
    checked: dict[str, Any] = arguments
    check_limits(checked)
    return checked


def _check(shape: Shape, value: Any, name: str) -> None:
    _KINDS[shape.kind](shape, value, name)


def _structure(shape: Shape, value: Any, name: str) -> None:
    if not isinstance(value, Mapping):
        raise bad_value(name or "request", value)
    for missing in sorted(
        shape.required - {k for k, v in value.items() if v is not None}
    ):
        raise bad_value(f"{name}.{missing}" if name else missing, "")
    for key, inner in value.items():
        label = f"{name}.{key}" if name else str(key)
        if key not in shape.members:
            raise bad_value(label, inner)
        if inner is not None:
            _check(shape.members[key], inner, label)


def _list(shape: Shape, value: Any, name: str) -> None:
    if not isinstance(value, list) or shape.item is None:
        raise bad_value(name, value)
    for item in value:
        _check(shape.item, item, name)


def _string(shape: Shape, value: Any, name: str) -> None:
    if (
        not isinstance(value, str)
        or not _UNSTORABLE.isdisjoint(value)
        or not _between(shape, len(value))
        or (shape.values and value not in shape.values)
        # `$` alone would accept a final line feed.
        or (shape.pattern and not shape.pattern.fullmatch(value))
    ):
        raise bad_value(name, ascii(value)[1:-1] if isinstance(value, str) else value)


def _whole(shape: Shape, value: Any, name: str) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or abs(value) > _MAX[shape.kind]
        or not _between(shape, value)
    ):
        raise bad_value(name, value)


def _boolean(_: Shape, value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise bad_value(name, value)


def _timestamp(_: Shape, value: Any, name: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= _LATEST:
        raise bad_value(name, value)


def _between(shape: Shape, n: int) -> bool:
    return (shape.low is None or n >= shape.low) and (
        shape.high is None or n <= shape.high
    )


_KINDS: dict[str, Callable[[Shape, Any, str], None]] = {
    "structure": _structure,
    "list": _list,
    "string": _string,
    "integer": _whole,
    "long": _whole,
    "boolean": _boolean,
    "timestamp": _timestamp,
}
