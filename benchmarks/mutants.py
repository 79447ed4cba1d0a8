"""Draw mutants of the product and count how many `make test` kills.

Two kinds are drawn at random, as many of each as asked: by lines (a line with code first,
then one of the changes that it allows) and of guards (one condition of a query, permission,
transaction, lock or escape, each kind of guard as likely as the next).

    python -m benchmarks.mutants --seed 1                  60 by lines, 40 of guards
    python -m benchmarks.mutants --seed 1 --list           only show what was drawn
    python -m benchmarks.mutants --seed 1 --only 3 17      the 3rd and the 17th

Each mutant is tried in a clone of the last commit. `make test` runs once, with a mark at
each place that was drawn, and notes which tests reach it; these run on the mutant first,
then those of its package where a mark cannot tell. Tests without either do not run on a survivor, so
the share can only be too low. Shares have Wilson's 95% interval.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("leaderboard", "crowd", "quality", "genie")
MARKS = "not slow and not browser"
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=",
    ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not",
    ast.IsNot: "is",
}  # fmt: skip
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
FILTERS = {"filter", "exclude", "get", "Q"}
# What marks a place: a line for each test that comes by. Python loads it first, so that a
# mark needs no quotes, which would end the string around a place in an f-string.
MARK = """
import builtins, os
seen = set()
def mark_reached(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if test and (number, test) not in seen:
        seen.add((number, test))
        with open({path!r}, "a") as file:
            file.write(f"{{number}} {{test}}\\n")
builtins.mark_reached = mark_reached
"""
OF_PERMISSIONS = ["tests/test_admin_actions.py", "tests/test_permissions.py"]
# What modules declare is compared by these, whichever package they are in.
OF_DECLARATIONS = [
    "tests/genie/test_environment.py", "tests/genie/test_migrations.py",
    "tests/nets/test_forms.py", "tests/nets/test_openapi.py",
    "tests/nets/test_staff_pages.py", "tests/test_house.py",
]  # fmt: skip
MOST_TESTS = 300  # a mutant that more tests reach is tried with so many of them
ESCAPES = {"escape", "conditional_escape", "format_html", "escapejs", "quote"}


@dataclass(frozen=True)
class Mutant:
    kind: str
    path: str
    line: int
    start: int
    end: int
    new: str

    def apply(self, root: Path) -> None:
        file = root / self.path
        text = file.read_bytes()
        changed = text[: self.start] + self.new.encode() + text[self.end :]
        ast.parse(changed)
        file.write_bytes(changed)

    def shown(self) -> str:
        old = (ROOT / self.path).read_bytes()[self.start : self.end].decode()
        short = " ".join(old.split())[:60]
        return f"{self.kind:11} {self.path}:{self.line}: {short!r} -> {self.new!r}"


class Source:
    """One module: its tree, and where each node is in its bytes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data = (ROOT / path).read_bytes()
        self.tree = ast.parse(self.data)
        self.offsets = [0]
        for line in self.data.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))

    def place(self, node: Any) -> tuple[int, int]:
        start = self.offsets[node.lineno - 1] + node.col_offset
        return start, self.offsets[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: Any) -> str:
        start, end = self.place(node)
        return self.data[start:end].decode()

    def mutant(self, kind: str, node: Any, new: str) -> Mutant:
        return Mutant(kind, self.path, node.lineno, *self.place(node), new)

    def by_lines(self) -> Iterator[Mutant]:
        for node in ast.walk(self.tree):
            for new in changes(self, node):
                yield self.mutant("line", node, new)

    def guards(self) -> Iterator[Mutant]:
        for node in ast.walk(self.tree):
            yield from guard_changes(self, node)


def changes(source: Source, node: ast.AST) -> Iterator[str]:
    """Yield what a node can become if it is changed as a slip would."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        if sign := COMPARISONS.get(type(node.ops[0])):
            left, right = source.text(node.left), source.text(node.comparators[0])
            yield f"({left} {sign} {right})"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sign = OPERATORS[type(node.op)]
        yield f"({source.text(node.left)} {sign} {source.text(node.right)})"
    elif isinstance(node, ast.BoolOp):
        sign = " or " if isinstance(node.op, ast.And) else " and "
        yield f"({sign.join(source.text(value) for value in node.values)})"
    elif isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "return None"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield str(node.value + 1)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "pass"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({source.text(node.operand)})"


def guard_changes(source: Source, node: Any) -> Iterator[Mutant]:
    """Yield the mutants that drop one guard."""
    if isinstance(node, ast.With) and "atomic(" in source.text(
        node.items[0].context_expr
    ):
        call = node.items[0].context_expr
        yield source.mutant(
            "transaction", call, "__import__('contextlib').nullcontext()"
        )
    for decorator in getattr(node, "decorator_list", []):
        text = source.text(decorator)
        if text.startswith("transaction.atomic"):
            yield source.mutant("transaction", decorator, "(lambda kept: kept)")
        elif re.match(r"(permission|staff_member|login)_required", text):
            yield source.mutant("permission", decorator, "(lambda kept: kept)")
    if isinstance(node, ast.keyword) and node.arg == "permissions":
        yield source.mutant("permission", node, "permissions=None")
    if not isinstance(node, ast.Call):
        return
    function: Any = node.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    if name in FILTERS and node.keywords and len(node.keywords) + len(node.args) > 1:
        for one in [*node.args, *node.keywords]:
            kept = [
                source.text(x) for x in [*node.args, *node.keywords] if x is not one
            ]
            new = f"{source.text(node.func)}({', '.join(kept)})"
            yield source.mutant("query", node, new)
    elif name == "select_for_update":
        yield source.mutant("lock", node, source.text(function.value))
    elif name in {"has_perm", "has_permission", "may_decide"}:
        yield source.mutant("permission", node, "True")
    elif (
        name in ESCAPES and len(node.args) == 1 and "re." not in source.text(node.func)
    ):
        yield source.mutant("escape", node, f"str({source.text(node.args[0])})")


def draw(seed: int, n_lines: int, n_guards: int) -> list[Mutant]:
    """Draw mutants; the same seed of the same commit draws the same."""
    names = subprocess.run(
        ["git", "ls-files", *APPS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    paths = [n for n in names if re.search(r"\.py$", n) and "/migrations/" not in n]
    lines, guards = defaultdict(list), defaultdict(list)
    for path in sorted(paths):
        source = Source(path)
        for one in source.by_lines():
            lines[one.path, one.line].append(one)
        for one in source.guards():
            guards[one.kind].append(one)
    rng = np.random.default_rng(seed)
    places = sorted(lines)
    drawn = [
        pick(rng, lines[places[i]])
        for i in rng.choice(len(places), size=n_lines, replace=False)
    ]
    seen: set[Mutant] = set()
    while len(seen) < n_guards:
        seen.add(pick(rng, guards[pick(rng, sorted(guards))]))
    return drawn + sorted(seen, key=lambda one: (one.kind, one.path, one.start))


def pick(rng: np.random.Generator, among: list[Any]) -> Any:
    return among[int(rng.integers(len(among)))]


def clone(folder: Path) -> Path:
    target = folder / "genie"
    subprocess.run(["git", "clone", "-q", ROOT, target], check=True)
    (target / ".venv").symlink_to((ROOT / ".venv").resolve())
    return target


def nearest_tests(root: Path, path: str) -> list[str]:
    """Return the folder of tests that goes with a module, the deepest that exists."""
    for parent in Path(path).parents:
        if parent.parts and (root / "tests" / parent).is_dir():
            return [str(Path("tests") / parent)]
    return []


def tests_that_reach(
    root: Path, drawn: list[Mutant], workers: str
) -> dict[int, list[str]]:
    """Run all tests once; return which of them came by each mutant's place."""
    marks = root.parent / "marks"
    marks.mkdir()
    (marks / "sitecustomize.py").write_text(MARK.format(path=str(marks / "lines")))
    by_path = defaultdict(list)
    for number, mutant in enumerate(drawn, 1):
        by_path[mutant.path].append((number, mutant))
    for path, its in by_path.items():
        text = (root / path).read_bytes()
        (root / path).write_bytes(mark_places(text, its))
    environ = {**os.environ, "PYTHONPATH": str(marks)}
    collect = [sys.executable, "-m", "pytest", "-q", "--no-migrations", "-m", MARKS]
    command = [*collect, "-n", workers, "--dist", "worksteal", "-p", "no:cacheprovider"]
    run = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True)
    failed = re.findall(r"^(?:FAILED|ERROR) .*", run.stdout, re.M)
    print(*failed, run.stdout[-200:].splitlines()[-1], sep="\n", flush=True)
    subprocess.run(["git", "checkout", "-q", "."], cwd=root, check=True)
    # Some tests have another name in each run: for one that it does not find, pytest runs
    # none of the others.
    listed = subprocess.run(
        [*collect, "--collect-only"], cwd=root, capture_output=True, text=True
    ).stdout.splitlines()
    known = set(listed)
    tests = defaultdict(set)
    for line in (marks / "lines").read_text().splitlines():
        place, test = line.split(" ", 1)
        if test in known:
            tests[int(place)].add(test)
    return {number: sorted(names) for number, names in tests.items()}


def mark_places(text: bytes, mutants: list[tuple[int, Mutant]]) -> bytes:
    """Mark the places of one module, except where no call can stand."""
    put: list[tuple[int, int, bytes]] = []
    for number, mutant in mutants:
        start, size = mutant.start, mutant.end - mutant.start
        start += len(b"return ") * text.startswith(b"return ", start)
        one = [
            (start, -size, f"(mark_reached({number}) or (".encode()),
            (mutant.end, size, b"))"),
        ]
        try:
            ast.parse(insert(text, one))
        except SyntaxError:
            continue
        put += one
    return insert(text, put)


def insert(text: bytes, put: list[tuple[int, int, bytes]]) -> bytes:
    """Insert each piece at its place; of those that begin together, the widest first."""
    parts, last = [], 0
    for place, _size, piece in sorted(put):
        parts += [text[last:place], piece]
        last = place
    return b"".join([*parts, text[last:]])


def shows_tests(root: Path, mutant: Mutant) -> bool:
    """Return whether a mark at the place names all tests that come by.

    It does not where no call can stand, nor at a place that runs when a module is loaded.
    """
    text = (root / mutant.path).read_bytes()
    line = text[: mutant.start].count(b"\n") + 1
    return mark_places(text, [(1, mutant)]) != text and any(
        isinstance(node, ast.FunctionDef)
        and node.body[0].lineno <= line <= (node.end_lineno or line)
        for node in ast.walk(ast.parse(text))
    )


def kills(root: Path, mutant: Mutant, tests: list[str], workers: str) -> str:
    """Run the tests on one mutant; return the test that failed, or nothing."""
    base = [sys.executable, "-m", "pytest", "-q", "-x", "--no-migrations", "-m", MARKS]
    base += ["-p", "no:cacheprovider"]
    several = ["-n", workers, "--dist", "worksteal"]
    try:
        some = tests[:: len(tests) // MOST_TESTS + 1]
        near = nearest_tests(root, mutant.path)
        some.sort(key=lambda test: not test.startswith(tuple(near or ["tests"])))
        near += OF_PERMISSIONS if mutant.kind == "permission" else OF_DECLARATIONS
        if shows_tests(root, mutant) and mutant.kind != "permission":
            near = []  # no other test comes by
        else:
            near = OF_DECLARATIONS + near
        mutant.apply(root)
        # most mutants are killed by the first few, faster in one process
        for paths, many in ((some[:20], []), (some[20:], several), (near, several)):
            if not paths:
                continue
            # a mutant can make an endless loop, which is found out, too
            limit = ["timeout", "-k", "9", "900", *base, *many, *paths]
            run = subprocess.run(limit, cwd=root, capture_output=True, text=True)
            if run.returncode not in {0, 5}:
                failed = re.search(r"^(?:FAILED|ERROR) (\S+::\S+)", run.stdout, re.M)
                return failed[1] if failed else "the tests do not start, or not end"
    finally:
        subprocess.run(["git", "checkout", "-q", "."], cwd=root, check=True)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--guards", type=int, default=40)
    parser.add_argument("--only", type=int, nargs="+", help="numbers of mutants")
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--list", action="store_true", help="draw, and run no test")
    asked = parser.parse_args()
    results = defaultdict(list)
    folder = Path(tempfile.mkdtemp(prefix="genie-mutants-"))
    try:
        root = ROOT if asked.list else clone(folder)
        drawn = draw(asked.seed, asked.lines, asked.guards)
        by_number = {} if asked.list else tests_that_reach(root, drawn, asked.workers)
        for number, mutant in enumerate(drawn, 1):
            if asked.only and number not in asked.only:
                continue
            tests = by_number.get(number, [])
            killer = "" if asked.list else kills(root, mutant, tests, asked.workers)
            print(f"{number:3} {mutant.shown()}", flush=True)
            if not asked.list:
                print(f"    {killer or 'SURVIVED'}", flush=True)
                kind = "lines" if mutant.kind == "line" else "guards"
                results[kind].append(bool(killer))
    finally:
        shutil.rmtree(folder)
    for kind, killed in results.items():
        n, k = len(killed), sum(killed)
        interval = binomtest(k, n).proportion_ci(method="wilson")
        print(
            f"{kind}: {k} of {n} killed, {k / n:.0%} [{interval.low:.0%}, {interval.high:.0%}]"
        )


if __name__ == "__main__":
    main()
