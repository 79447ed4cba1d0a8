"""Extensions are found, not listed: a folder of files, each with one subclass.

Packages and folders outside the source tree can add to some of these:
`genie.lib.outside`.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Protocol, TypeVar

from genie.lib import outside


class _Sluggish(Protocol):
    slug: str


T = TypeVar("T", bound=_Sluggish)


def discover(package: str, base: type[T]) -> dict[str, type[T]]:
    """Return the concrete subclasses of `base` by slug, in slug order.

    They are in the modules of `package` and outside. Two classes with the
    same slug raise ValueError.

    Examples
    --------
    >>> from leaderboard.metrics.base import Metric
    >>> "sacrebleu" in discover("leaderboard.metrics", Metric)
    True
    """
    return dict(_discover(package, base))


@cache
def _discover(package: str, base: type[T]) -> tuple[tuple[str, type[T]], ...]:
    classes = _own(package, base)
    if kind := outside.KIND_OF.get(package):
        for where, value in outside.classes(kind, base):
            if value.slug in classes:
                outside.refuse(kind, where, f"the slug {value.slug} is already in use")
            else:
                classes[value.slug] = value
    return tuple(sorted(classes.items()))


def _own(package: str, base: type[T]) -> dict[str, type[T]]:
    root = importlib.import_module(package)
    classes: dict[str, type[T]] = {}
    for info in pkgutil.iter_modules(root.__path__):
        module = importlib.import_module(f"{package}.{info.name}")
        for _, value in inspect.getmembers(module, inspect.isclass):
            # A module's members include its imports.
            if value.__module__ != module.__name__ or not issubclass(value, base):
                continue
            # A shared base class has no slug.
            if inspect.isabstract(value) or "slug" not in vars(value):
                continue
            if value.slug in classes:
                raise ValueError(
                    f"Two extensions in {package} have the slug {value.slug}."
                )
            classes[value.slug] = value
    return classes
