"""Genie's layout, for the demonstration tasks and for new tasks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Folder, Row


class DemoJsonl(ReleaseReader):
    """One object a line: ``id``, ``fields`` (name to text), ``references``."""

    slug = "demo-jsonl"
    layout = "test.jsonl: id, fields (object), references (list of texts)"
    options: ClassVar[Mapping[str, str]] = {
        "split": "name of the file without .jsonl (default: test)",
        "source": "which field is the source (default: the first)",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        file = folder.find(f"{options.get('split', 'test')}.jsonl")
        instances = []
        for row in folder.rows(file):
            fields = row.values.get("fields")
            if not isinstance(fields, dict) or not fields:
                raise row.broken("the field fields must be an object with strings")
            texts = {str(key): _text(row, key, value) for key, value in fields.items()}
            source = str(options.get("source", next(iter(texts))))
            if source and source not in texts:
                raise row.broken(f"the field {source} is missing")
            instances.append(
                ReleaseInstance(
                    row.text("id"),
                    texts,
                    row.texts("references"),
                    texts[source] if source else "",
                )
            )
        return release_of(instances, folder.read)


def _text(row: Row, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise row.broken(f"the field {key} is not a string")
    return value
