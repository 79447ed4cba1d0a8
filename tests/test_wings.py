"""The plan of the house: wings with a front door, folders that can be taken in at a glance."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ["leaderboard", "quality", "crowd"]
FOLDERS = [
    folder
    for app in ["genie", *APPS]
    for folder in [ROOT / app, *sorted((ROOT / app).rglob("*"))]
    if folder.is_dir()
    and not {"migrations", "__pycache__"} & set(folder.parts)
    and list(folder.glob("*.py"))
]
# Django looks for commands in one folder of an app and in none below it.
FLAT = {f"{app}/management/commands" for app in APPS}
# Django finds these by their place: they put the wings together.
TOGETHER = {f"{app}.{name}" for app in APPS for name in ("models", "admin")}
WINGS = sorted(
    f"{path.parent.parent.name}.{path.parent.name}"
    for app in APPS
    for path in (ROOT / app).glob("*/__init__.py")
    if "Front door:" in path.read_text("utf-8")
)


def names(folder: Path) -> list[str]:
    return sorted(p.stem for p in folder.glob("*.py") if p.stem != "__init__")


def shown(folder: Path) -> str:
    return str(folder.relative_to(ROOT))


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_no_folder_holds_more_than_can_be_taken_in(folder):
    assert len(names(folder)) <= 20 or shown(folder) in FLAT


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_files_that_share_a_prefix_have_a_folder(folder):
    families = defaultdict(list)
    for name in names(folder):
        families[name.partition("_")[0]].append(name)
    large = [family for family in families.values() if len(family) > 2]
    assert large == [] or shown(folder) in FLAT


@cache
def imports() -> dict[str, set[str]]:
    """Read once what each module takes from which."""
    known = modules()
    return {name: imported(path, known) for name, path in known.items()}


def modules() -> dict[str, Path]:
    found = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found[name.removesuffix(".__init__")] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    targets = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                targets.add(whole if whole in known else node.module)
    return targets


def front_door(wing: str) -> set[str]:
    """Read the modules that a wing offers from the last paragraph of its docstring."""
    text = (ROOT / wing.replace(".", "/") / "__init__.py").read_text("utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    sentence = " ".join(doc.rpartition("Front door:")[2].split()).rstrip(".")
    offered = set()
    for part in sentence.split("; "):
        folder, _, listed = part.partition(" (")
        offered |= (
            {f"{folder}.{name}" for name in listed.rstrip(")").split(", ")}
            if listed
            else {folder}
        )
    return offered


def test_whatever_writes_or_reads_rows_is_a_wing_with_a_front_door():
    inner = {"models", "services", "selectors"}
    # the worker site has pages only
    doors = {
        f"{app}.{path.name}"
        for app in APPS
        for path in (ROOT / app).iterdir()
        if path.is_dir() and inner & {child.stem for child in path.iterdir()}
    }
    assert doors <= set(WINGS)
    assert len(WINGS) == 31


@pytest.mark.parametrize("wing", WINGS)
def test_others_come_in_by_the_front_door(wing):
    used = set()
    for name, targets in imports().items():
        if name.startswith(f"{wing}.") or name == wing or name in TOGETHER:
            continue
        for target in targets:
            inside = target.removeprefix(f"{wing}.")
            if inside != target and inside.partition(".")[0] != "models":
                used.add(inside)
    offered = front_door(wing) - {"models", "none"}
    assert used - offered == set(), "add it to the front door, or do not import it"
    assert offered - used == set(), "nobody needs it: take it off the front door"
