"""Which of the product's names its entry points can reach, read from the source alone.

A name is a function, a class or a variable at the top of a module. One reaches another by
naming it. Whoever is found by discovery (metrics, designs, ...) or by a dotted string
(jobs, middleware) is reached, too. What is called on an object cannot be seen this way,
so a class is reached with all its methods.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import InitVar, dataclass, field
from pathlib import Path

Name = tuple[str, str]
# All that happens in a module when it is imported, beside its definitions.
BODY = ""
_DOTTED = re.compile(r"[a-z_]+(\.[A-Za-z_]\w*)+")


@dataclass
class Module:
    """One file: what it defines, and whose names it knows under which of its own."""

    name: str
    tree: InitVar[ast.Module]  # of all modules, trees would take 200 MB
    # own name -> what the statements that make it name, with the kind of node
    made: dict[str, set[tuple[type, str]]] = field(default_factory=dict)
    # own name -> module or (module, name) that it was imported from
    imported: dict[str, str | Name] = field(default_factory=dict)
    # the functions and classes that others may use
    public: list[str] = field(default_factory=list)
    # the packages whose modules `discover` finds without naming them
    discovered: set[str] = field(default_factory=set)

    def __post_init__(self, tree: ast.Module) -> None:
        for statement in tree.body:
            used = set(_used(statement))
            for name in _names_made(statement):
                if (
                    isinstance(statement, ast.FunctionDef | ast.ClassDef)
                    and name not in self.made
                    and not name.startswith("_")
                ):
                    self.public.append(name)
                self.made.setdefault(name, set()).update(used)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    own = one.asname or one.name.partition(".")[0]
                    self.imported[own] = one.name if one.asname else own
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    self.imported[one.asname or one.name] = (node.module, one.name)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "discover"
                and isinstance(node.args[0], ast.Constant)
            ):
                self.discovered.add(str(node.args[0].value))


def _used(statement: ast.stmt) -> Iterator[tuple[type, str]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield ast.Name, node.id
        elif isinstance(node, ast.Attribute):
            yield ast.Attribute, _dotted_name(node)
        elif isinstance(node, ast.Constant) and _DOTTED.fullmatch(str(node.value)):
            yield ast.Constant, str(node.value)


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
        found = (module.discovered for module in self.modules.values())
        self.discovered = set().union(*found)

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
        for kind, text in module.made.get(at[1], ()):
            if kind is ast.Attribute:
                yield from self._attribute(module, text)
            elif kind is ast.Constant:
                yield from self._dotted(text)
            elif text in module.made:
                yield module.name, text
            elif text in module.imported:
                yield from self._found(module.imported[text])

    def _attribute(self, module: Module, dotted: str) -> Iterator[Name]:
        """Read `module.name`, also where the module itself is `package.module`."""
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


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted_name(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""
