import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils.html import format_html
from django.utils.safestring import SafeString

from genie.lib.ordered_json import OrderedJSONField

_CENTS = "_cents"
Shown = str | Callable[[Any], Any]


def plainly(model: type[models.Model], names: Iterable[Any]) -> list[Shown]:
    return [_plain(model, name) if isinstance(name, str) else name for name in names]


@lru_cache(maxsize=1024)
def _plain(model: type[models.Model], name: str) -> Shown:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return name
    if name.endswith(_CENTS):
        write: Callable[[Any], str] = money
    elif isinstance(field, models.JSONField | OrderedJSONField):
        write = structure
    else:
        return name
    label = str(getattr(field, "verbose_name", name)).removesuffix(" cents")

    @admin.display(description=label, ordering=name, empty_value="–")
    def shown(row: Any) -> str | None:
        value = getattr(row, name)
        return None if value is None else write(value)

    shown.__name__ = name
    return shown


def money(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def structure(value: Any) -> SafeString | str:
    if not value:
        return "–"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html("<pre>{}</pre>", text)


def arguments(value: dict[str, Any]) -> str:
    """Format the arguments of a job.

    Examples
    --------
    >>> arguments({"campaign": 12, "now": True})
    'campaign 12, now True'
    """
    return ", ".join(f"{name} {given}" for name, given in value.items()) or "–"
