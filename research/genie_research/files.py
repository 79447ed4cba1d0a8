"""Results of studies as JSON files."""

import json
from pathlib import Path
from typing import Any

from genie.management import STREAM


def write_json(path: Path | None, content: Any) -> None:
    """Write all numbers, undefined ones as null, if the path is one of a file."""
    if path not in (None, STREAM):
        text = json.dumps(without_nan(content), indent=1, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")


def without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(part) for part in value]
    return None if value != value else value
