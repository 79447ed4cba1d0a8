"""Extensions are found, not listed: a folder of files, each with one subclass.

Others add to some of these folders without a change to ours: `genie.lib.outside`.
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
    """Find the concrete subclasses of `base` in the modules of `package`, and outside.

    Parameters
    ----------
    package : str
        Dotted name of a package whose modules hold one extension each.
    base : type
        Their common base class; each concrete subclass has a unique ``slug``.

    Returns
    -------
    dict
        Slug to class, in slug order.

    Raises
    ------
    ValueError
        When two classes have the same slug.

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
                outside.refuse(kind, where, f"there is another {value.slug} already")
            else:
                classes[value.slug] = value
    return tuple(sorted(classes.items()))


def _own(package: str, base: type[T]) -> dict[str, type[T]]:
    root = importlib.import_module(package)
    classes: dict[str, type[T]] = {}
    for info in pkgutil.iter_modules(root.__path__):
        module = importlib.import_module(f"{package}.{info.name}")
        for _, value in inspect.getmembers(module, inspect.isclass):
            # What a module imports is among its members, too.
            if value.__module__ != module.__name__ or not issubclass(value, base):
                continue
            # A shared base class has no slug of its own.
            if inspect.isabstract(value) or "slug" not in vars(value):
                continue
            if value.slug in classes:
                raise ValueError(
                    f"Two extensions in {package} have the slug {value.slug}."
                )
            classes[value.slug] = value
    return classes
