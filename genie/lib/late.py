from collections.abc import Callable
from typing import Any

from django.utils.module_loading import import_string


def late(path: str) -> Callable[..., Any]:
    return lambda *given, **named: import_string(path)(*given, **named)
