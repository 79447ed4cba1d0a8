"""A Hugging Face data set, where the optional library ``datasets`` is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Row

# How a source names a data set on the hub: hf:GEM/xsum, hf:GEM/xsum@<revision>
PREFIX = "hf:"
_ON_DISK = ("dataset_info.json", "dataset_dict.json")


class HuggingFace(ReleaseReader):
    """``hf:NAME`` or ``hf:NAME@REVISION`` from the hub, or a folder that it was saved to.

    Code that comes with a data set is never run. A column may lie within another one:
    ``translation.de``. Other layouts say with `columns` what their fields are called
    there, so any task can be loaded this way.
    """

    slug = "hugging-face"
    layout = "a data set from the Hugging Face hub (hf:NAME), or one saved on disk"
    options: ClassVar[Mapping[str, str]] = {
        "config": "its configuration",
        "split": "default: test",
        "id": "column of ids; empty: rows are counted from 1",
        "fields": "object from field of the instance to column; the first is the source",
        "references": "column of references (text or list of texts)",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        """Load and read one split with the columns that the options name."""
        return read_columns(path, options, [options])


def is_hugging_face(path: Path) -> bool:
    """Tell whether a source is for this reader.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool

    Examples
    --------
    >>> is_hugging_face(Path("hf:GEM/xsum")), is_hugging_face(Path("data"))
    (True, False)
    """
    return str(path).startswith(PREFIX) or any(
        (path / name).is_file() for name in _ON_DISK
    )


def read_columns(
    path: Path, options: Mapping[str, Any], alternatives: list[Mapping[str, Any]]
) -> Release:
    """Read a data set whose columns are called as in the first alternative that fits.

    Parameters
    ----------
    path : Path
        See `is_hugging_face`.
    options : mapping
        ``config`` and ``split``.
    alternatives : list of mapping
        Each with ``id``, ``fields`` and ``references``.

    Returns
    -------
    Release

    Raises
    ------
    GenieError
        When the library is not installed, the data set cannot be loaded, or none of
        the alternatives fits its columns.

    Examples
    --------
    >>> read_columns(Path("a-folder-that-is-not-there"), {}, [])
    Traceback (most recent call last):
    ...
    genie.lib.errors.GenieError: ...
    """
    table = _load(path, options)
    names = list(table.column_names)
    for columns in alternatives:
        needed = [columns.get("id", ""), *columns.get("fields", {}).values()]
        needed.append(columns.get("references", ""))
        if all(not name or name.split(".")[0] in names for name in needed):
            break
    else:
        raise GenieError(
            f"The data set {path} has the columns {', '.join(names)}, not "
            f"{', '.join(filter(None, needed))}.",
            code="release-broken",
        )
    fingerprint = str(getattr(table, "_fingerprint", ""))
    return release_of(_instances(table, path, columns), {str(path): fingerprint})


def _instances(
    table: Any, path: Path, columns: Mapping[str, Any]
) -> Iterator[ReleaseInstance]:
    fields = columns.get("fields", {})
    if not fields:
        raise GenieError(
            "Name the columns that workers see, with the option fields.",
            code="unknown-option",
        )
    for number, values in enumerate(table, start=1):
        flat = {column: _within(values, column) for column in fields.values()}
        flat[""] = number
        for name in (columns.get("id", ""), columns.get("references", "")):
            if name:
                flat[name] = _within(values, name)
        row = Row(flat, f"{path}, row {number:,}", None)
        texts = {name: row.text(column) for name, column in fields.items()}
        references = row.texts(columns["references"]) if "references" in columns else []
        yield ReleaseInstance(
            row.text(columns.get("id", "")),
            texts,
            references,
            next(iter(texts.values())),
        )


def _within(values: Any, column: str) -> Any:
    for part in column.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


def _library() -> Any:
    try:
        import datasets
    except ImportError:
        raise GenieError(
            "Reading a Hugging Face data set needs the library datasets: install "
            "Genie with its extra, pip install '.[datasets]'.",
            code="library-missing",
        ) from None
    return datasets


def _load(path: Path, options: Mapping[str, Any]) -> Any:
    datasets = _library()
    split = options.get("split", "test")
    hub = str(path).startswith(PREFIX)
    try:
        if hub:
            name, _, revision = str(path).removeprefix(PREFIX).partition("@")
            return datasets.load_dataset(
                name,
                options.get("config"),
                split=split,
                revision=revision or None,
            )
        loaded = datasets.load_from_disk(str(path))
    except (OSError, ValueError, RuntimeError) as error:
        raise GenieError(
            f"The data set {path} cannot be loaded ({error}).",
            code="release-missing",
            # the hub may answer again in an hour; a folder will not change by itself
            permanent=not hub,
        ) from error
    if not hasattr(loaded, "keys"):
        return loaded
    if split not in loaded:
        raise GenieError(
            f"{path} has no split {split}, only {', '.join(loaded)}.",
            code="release-missing",
        )
    return loaded[split]
