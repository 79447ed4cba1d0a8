"""Read what is public about a release, and find what later code no longer has of it."""

import csv
import io
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path

from django.core.management import call_command

from leaderboard.releases import bundle


def rebuilt(folder: Path) -> str:
    """Rebuild a release as its readers do; return what the command prints."""
    out = io.StringIO()
    call_command("rebuild", str(folder), stdout=out)
    return out.getvalue()


def columns(folder: Path) -> str:
    """Write one line for each column, with the types of its values."""
    lines = []
    for path in sorted(folder.glob("*.csv")):
        rows = bundle.read_table(folder, path.stem)
        flat = next(csv.reader(io.StringIO(path.read_text("utf-8"))))
        lines.append(f"{path.stem}: {len(rows)} rows")
        for name in rows[0] if rows else flat:
            types = sorted({type(row[name]).__name__ for row in rows})
            where = "" if name in flat else " (JSONL only)"
            lines.append(f"  {name}: {' | '.join(types)}{where}")
    return "\n".join([*lines, ""])


def unpack(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    [inside] = folder.iterdir()
    return inside


def lost(old: object, new: object, at: str = "") -> Iterator[str]:
    """Yield where a part of JSON is missing or different; keys may be added."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from lost(value, new.get(key, ...), f"{at} {key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from lost(*pair, f"{at} {place}")
    elif isinstance(old, float) and isinstance(new, float):
        yield from [] if math.isclose(old, new, abs_tol=1e-6) else [at]
    elif old != new:
        yield at
