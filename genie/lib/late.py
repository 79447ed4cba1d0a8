from collections.abc import Callable
from typing import Any

from django.utils.module_loading import import_string


def late(path: str) -> Callable[..., Any]:
    """Return a function that loads the one at a dotted path when it is called."""
    return lambda *given, **named: import_string(path)(*given, **named)
