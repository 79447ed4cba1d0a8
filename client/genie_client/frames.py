"""Boards as data frames, of pandas or polars: whichever is installed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from genie_client.problem import Problem

LIBRARIES = ("pandas", "polars")


def frame(rows: Iterable[Mapping[str, Any]], library: str = "pandas") -> Any:
    """Create a data frame in which each of `metrics` is a column."""
    if library not in LIBRARIES:
        raise Problem(
            f"Choose {' or '.join(LIBRARIES)}, not {library!r}.",
            code="unknown-library",
        )
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        raise Problem(
            f"{library} is not installed: pip install {library}.",
            code="no-library",
        ) from error
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    # every column in every row: a metric may be missing from some
    columns = {name: [row.get(name) for row in flat] for name in names}
    return module.DataFrame(columns)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in row.items() if name != "metrics"}
    return {**found, **row.get("metrics", {})}
