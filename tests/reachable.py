"""Which of the product's names its entry points can reach, read from the source alone.

A name is a function, a class or a variable at the top of a module. One reaches another by
naming it. Whoever is found by discovery (metrics, designs, ...) or by a dotted string
(jobs, middleware) is reached, too. What is called on an object cannot be seen this way,
so a class is reached with all its methods.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

Name = tuple[str, str]
# All that happens in a module when it is imported, beside its definitions.
BODY = ""
_DOTTED = re.compile(r"[a-z_]+(\.[A-Za-z_]\w*)+")


@dataclass
class Module:
    """One file: what it defines, and whose names it knows under which of its own."""

    name: str
    tree: ast.Module
    # own name -> the statements that make it
    made: dict[str, list[ast.stmt]] = field(default_factory=dict)
    # own name -> module or (module, name) that it was imported from
    imported: dict[str, str | Name] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for statement in self.tree.body:
            for name in _names_made(statement):
                self.made.setdefault(name, []).append(statement)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    own = one.asname or one.name.partition(".")[0]
                    self.imported[own] = one.name if one.asname else own
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    self.imported[one.asname or one.name] = (node.module, one.name)

    @property
    def public(self) -> list[str]:
        """Name the functions and classes that others may use."""
        return [
            name
            for name, statements in self.made.items()
            if isinstance(statements[0], ast.FunctionDef | ast.ClassDef)
            and not name.startswith("_")
        ]


def _names_made(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = getattr(statement, "targets", None) or [statement.target]
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id
    elif not isinstance(statement, ast.Import | ast.ImportFrom):
        yield BODY


class Product:
    """All modules of some packages, and what reaches what among them."""

    def __init__(self, root: Path, packages: Iterable[str]) -> None:
        self.modules: dict[str, Module] = {}
        for package in packages:
            for path in sorted((root / package).rglob("*.py")):
                if "migrations" in path.parts:
                    continue
                parts = path.relative_to(root).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = Module(name, ast.parse(path.read_text("utf-8")))

    def inside(self, packages: Iterable[str]) -> list[Module]:
        """Give the modules of some packages."""
        starts = tuple(packages)
        return [
            module
            for name, module in self.modules.items()
            if name in starts or name.startswith(tuple(f"{one}." for one in starts))
        ]

    def reached_from(self, entries: Iterable[str]) -> set[Name]:
        """Follow names from all that the entries' modules define."""
        waiting = [
            (module.name, name)
            for module in self.inside(entries)
            for name in (*module.made, BODY)
        ]
        reached: set[Name] = set()
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            waiting += self._named_by(at)
        return reached

    def _named_by(self, at: Name) -> Iterator[Name]:
        module = self.modules[at[0]]
        yield at[0], BODY
        if at[1] in module.imported and at[1] not in module.made:
            yield from self._found(module.imported[at[1]])
        for statement in module.made.get(at[1], ()):
            for node in ast.walk(statement):
                yield from self._meant_by(module, node)

    def _meant_by(self, module: Module, node: ast.AST) -> Iterator[Name]:
        if isinstance(node, ast.Name):
            if node.id in module.made:
                yield module.name, node.id
            elif node.id in module.imported:
                yield from self._found(module.imported[node.id])
        elif isinstance(node, ast.Attribute):
            yield from self._attribute(module, node)
        elif isinstance(node, ast.Constant) and _DOTTED.fullmatch(str(node.value)):
            yield from self._dotted(str(node.value))

    def _attribute(self, module: Module, node: ast.Attribute) -> Iterator[Name]:
        """Read `module.name`, also where the module itself is `package.module`."""
        dotted = _dotted_name(node)
        first, _, rest = dotted.partition(".")
        origin = module.imported.get(first)
        if origin is None or not rest:
            return
        start = origin if isinstance(origin, str) else ".".join(origin)
        yield from self._dotted(f"{start}.{rest}")

    def _dotted(self, dotted: str) -> Iterator[Name]:
        """Find a name in a module, or all modules of a package (for discovery)."""
        if dotted in self.discovered:
            for module in self.inside([dotted]):
                yield from ((module.name, name) for name in module.made)
        head, _, name = dotted.rpartition(".")
        while head:
            if head in self.modules:
                yield from self._found((head, name))
                return
            head, _, name = head.rpartition(".")

    def _found(self, origin: str | Name) -> Iterator[Name]:
        if isinstance(origin, str):
            if origin in self.modules:
                yield origin, BODY
            return
        module, name = origin
        if f"{module}.{name}" in self.modules:
            yield f"{module}.{name}", BODY
        elif module in self.modules:
            yield module, name

    @cached_property
    def discovered(self) -> set[str]:
        """Name the packages whose modules `discover` finds without naming them."""
        return {
            str(call.args[0].value)
            for module in self.modules.values()
            for call in ast.walk(module.tree)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "discover"
            and isinstance(call.args[0], ast.Constant)
        }


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted_name(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""
