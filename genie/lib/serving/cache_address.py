"""Storage of limits' counts and computed results: on this machine, or for several."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie.lib.env import ConfigurationError

# Beyond these numbers the oldest entries are dropped: counts of visitors, pages,
# figures.
_COUNTS, _PAGES, _FIGURES = 50_000, 300, 1_000


def caches(address: str, folder: Path, version: str) -> dict[str, dict[str, Any]]:
    """Return Django's ``CACHES`` for an address.

    Parameters
    ----------
    address : str
        Empty: files below `folder`, which the processes of this machine share, and for
        pages the memory of each. ``database``: tables of the site's database.
        ``redis://...``, ``rediss://...`` or ``valkey://...``: a server that speaks
        Redis' protocol, for which the package `redis` is needed. Other kinds,
        or a missing package, raise ConfigurationError.
    version : str
        Genie's; results of other versions are not read.

    Returns
    -------
    dict
        `default` has the counts behind every limit; `computed` the results of pages
        (`genie.lib.serving.caches.computed`); `shared` costly results that are computed
        once for all (`genie.lib.serving.caches`).
    """
    if not address:
        return _of_this_machine(folder)
    if address == "database":
        backend = "django.core.cache.backends.db.DatabaseCache"
        counts, results = "genie_cache_counts", "genie_cache_results"
    else:
        backend = "django.core.cache.backends.redis.RedisCache"
        counts = results = _server(address)
    return {
        name: {
            "BACKEND": backend,
            "LOCATION": where,
            "KEY_PREFIX": f"genie-{prefix}",
            "OPTIONS": {"MAX_ENTRIES": n} if address == "database" else {},
        }
        for name, where, prefix, n in (
            ("default", counts, "counts", _COUNTS),
            ("computed", results, f"computed-{version}", _PAGES),
            ("shared", results, f"shared-{version}", _FIGURES),
        )
    }


def _of_this_machine(folder: Path) -> dict[str, dict[str, Any]]:
    files = "genie.lib.serving.caches.SharedFiles"
    return {
        "default": {
            "BACKEND": files,
            "LOCATION": folder,
            "OPTIONS": {"MAX_ENTRIES": _COUNTS},
        },
        "computed": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": "computed",
            "OPTIONS": {"MAX_ENTRIES": _PAGES},
        },
        "shared": {
            "BACKEND": files,
            "LOCATION": folder / "computed",
            "OPTIONS": {"MAX_ENTRIES": _FIGURES},
        },
    }


def _server(address: str) -> str:
    kind, _, rest = address.partition("://")
    if kind not in {"redis", "rediss", "valkey"} or not rest:
        raise ConfigurationError(
            "GENIE_CACHE must be empty, database, or the address of a server "
            "(redis://..., rediss://... or valkey://...)."
        )
    if find_spec("redis") is None:
        raise ConfigurationError(
            f"GENIE_CACHE={kind}://... needs the package redis: "
            "pip install 'genie-leaderboards[redis]'."
        )
    return f"redis://{rest}" if kind == "valkey" else address
