import tomllib
from pathlib import Path
from typing import Any

from leaderboard.tasks import shipped


def systems_of(slug: str) -> list[dict[str, Any]]:
    path = shipped.folder(slug) / "systems" / "systems.toml"
    systems: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["system"]
    return systems


def file_of(slug: str, name: str) -> Path:
    return shipped.folder(slug) / "systems" / f"{name}.json"
