"""The real task beside the repository, read without the product's own readers."""

import json
from functools import cache

from leaderboard.metrics.base import Batch
from tests.shared import SHARED

FOLDER = SHARED / "data" / "wmt21-de-en"


@cache
def lines(name: str) -> tuple[str, ...]:
    return tuple(
        (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    )


def systems() -> list[str]:
    if not FOLDER.is_dir():
        return []
    names = [path.name for path in sorted((FOLDER / "submissions").glob("*.json"))]
    return [
        name.removeprefix("newstest2021.de-en.").removesuffix(".en.json")
        for name in names
    ]


@cache
def predictions(system: str) -> tuple[str, ...]:
    path = FOLDER / "submissions" / f"newstest2021.de-en.{system}.en.json"
    by_id = json.loads(path.read_text(encoding="utf-8"))
    return tuple(by_id[instance] for instance in lines("ids.txt"))


def batch(system: str, *references: str) -> Batch:
    streams = [lines(f"reference.{name}.txt") for name in references or ("A",)]
    return Batch(predictions(system), [list(row) for row in zip(*streams, strict=True)])
