"""The plan of the house: wings with a front door."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ["leaderboard", "quality", "crowd"]
# Django finds these by their place: they put the wings together.
TOGETHER = {f"{app}.{name}" for app in APPS for name in ("models", "admin")}
WINGS = sorted(
    f"{path.parent.parent.name}.{path.parent.name}"
    for app in APPS
    for path in (ROOT / app).glob("*/__init__.py")
    if "Front door:" in path.read_text("utf-8")
)


@cache
def imports() -> dict[str, set[str]]:
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


def taken_from(wing: str) -> set[str]:
    used = set()
    for name, targets in imports().items():
        if name.startswith(f"{wing}.") or name == wing or name in TOGETHER:
            continue
        for target in targets:
            inside = target.removeprefix(f"{wing}.")
            if inside != target and inside.partition(".")[0] != "models":
                used.add(inside)
    return used


def test_others_come_in_by_the_front_door():
    undeclared, unused = {}, {}
    for wing in WINGS:
        used, offered = taken_from(wing), front_door(wing) - {"models", "none"}
        if used - offered:
            undeclared[wing] = used - offered
        if offered - used:
            unused[wing] = offered - used
    assert undeclared == {}, "add it to the front door, or do not import it"
    assert unused == {}, "no other wing needs it: take it off the front door"
