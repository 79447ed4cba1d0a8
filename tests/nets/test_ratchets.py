"""Numbers that only go down: the size of the product, and a dialect in its texts.

Lower them with `pytest tests/nets/test_ratchets.py --rewrite`, which never raises one. The
only way up is an allowance that an issue grants, written into `sizes.json` by its number.
"""

import ast
import json
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = ROOT / "tests/nets/sizes.json"
LANGUAGE = ROOT / "tests/nets/language.json"
# An allowance of n statements also allows these shares of n.
SHARES = {
    "statements": 1,
    "lines": 3,
    "docstring_lines": 1 / 5,
    "modules": 1 / 20,
    "folders": 1 / 100,
    "words_of_docs": 0,
}
NOT_PRODUCT = re.compile(r"(^|/)migrations/|^(tests|benchmarks)/|^research/tests/")
BESIDE_PRODUCT = ("research/", "client/")

DIALECT = re.compile(
    r"\b(?:whoever|somebody|nobody|anybody)\b"
    r"|\bstands? (?:in|on|at|for|there|beside)\b"
    r"|\b(?:is|are|was|were) told\b|\bof (?:its|their|his|her|our|your) own\b"
    r"|\d %(?!\})|\blicence|\brests? on\b|, where (?:it|they|there|no|none)\b"
    r'|^\s*(?:"""|#)?\s*What (?:is|was|are|it|they)\b'
    r'|"""(?:Give|Say|Tell|Name|Take over)\b|\bmade elsewhere\b'
    r"|\b(?:other|another)\b[^.\n]{1,40}\bthan\b|\bhow far\b",
    re.IGNORECASE | re.MULTILINE,
)
BARE_PARTICIPLE = re.compile(
    r"_*(?:[a-z]+ed|[a-z]{2,}ing|said|told|shown|found|sent|kept|made|given|taken|left"
    r"|held|chosen|drawn|known|seen|written|of|at|by)"
)
# words of the field that end alike
NOUNS = {"feed", "need", "seed", "speed", "string", "setting", "rating", "ranking"}


def tracked(*suffixes: str) -> list[str]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    return [
        name for name in names if name.endswith(suffixes) and (ROOT / name).exists()
    ]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@cache  # of all modules, trees would take 200 MB
def counted(name: str) -> tuple[int, int, list[str]]:
    """Return a module's statements and docstring lines, and the names of its functions."""
    tree = ast.parse(read(name))
    return len(list(statements(tree))), docstring_lines(tree), function_names(tree)


def sizes() -> dict[str, int]:
    """Count the product; of lines, modules and folders without research/ and client/."""
    counts = dict.fromkeys(SHARES, 0)
    folders = set()
    for name in tracked(".py"):
        if NOT_PRODUCT.search(name):
            continue
        n_statements, n_docstring_lines, _ = counted(name)
        counts["statements"] += n_statements
        counts["docstring_lines"] += n_docstring_lines
        if not name.startswith(BESIDE_PRODUCT):
            counts["lines"] += read(name).count("\n")
            counts["modules"] += 1
            folders.add(str(Path(name).parent))
    counts["folders"] = len(folders)
    counts["words_of_docs"] = sum(
        len(read(name).split()) for name in tracked(".md") if is_documentation(name)
    )
    return counts


def is_documentation(name: str) -> bool:
    return name.startswith("docs/") or name == "README.md"


def walked(node: ast.AST):
    """Yield the node and all statements in it: as `ast.walk`, without expressions."""
    yield node
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for below in getattr(node, field, ()):
            yield from walked(below)


def statements(tree: ast.AST):
    for node in walked(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        kinds = ast.Import | ast.ImportFrom
        if isinstance(node, ast.stmt) and not isinstance(node, kinds) and not text:
            yield node


def docstring_lines(tree: ast.AST) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    found = [
        ast.get_docstring(node, clean=False) or ""
        for node in walked(tree)
        if isinstance(node, kinds)
    ]
    return sum(text.count("\n") + 1 for text in found if text)


def language() -> dict[str, int]:
    """Count by file what LANGUAGE forbids in texts, and functions with participles as names."""
    counts = {}
    for name in tracked(".py", ".html", ".md"):
        if NOT_PRODUCT.search(name) or name.startswith("tests/"):
            continue
        n = len(DIALECT.findall(read(name)))
        if name.endswith(".py"):
            n += sum(map(is_participle, counted(name)[2]))
        if n:
            counts[name] = n
    return counts


def function_names(tree: ast.AST):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node.name for node in walked(tree) if isinstance(node, kinds)]


def is_participle(name: str) -> bool:
    return name.strip("_") not in NOUNS and bool(BARE_PARTICIPLE.fullmatch(name))


def test_the_product_does_not_grow(request):
    kept, today = json.loads(read(str(SIZES))), sizes()
    if request.config.getoption("--rewrite", default=False):
        kept["at_most"] = {
            name: min(n, kept["at_most"].get(name, n)) for name, n in today.items()
        }
        SIZES.write_text(json.dumps(kept, indent=1) + "\n")
    granted = sum(kept["allowances"].values())
    above = {
        name: f"{n} is more than {most}"
        for name, n in today.items()
        if n > (most := kept["at_most"][name] + int(SHARES[name] * granted))
    }
    assert above == {}, "Delete first: these numbers only go down."


def test_texts_lose_the_dialect_and_gain_none(request):
    kept, today = json.loads(read(str(LANGUAGE))), language()
    if request.config.getoption("--rewrite", default=False):
        # A file that moves takes its count along; in all, there are never more.
        assert sum(today.values()) <= (sum(kept.values()) or sum(today.values()))
        LANGUAGE.write_text(json.dumps(today, indent=0, sort_keys=True) + "\n")
        kept = today
    above = {
        name: (n, kept.get(name, 0))
        for name, n in today.items()
        if n > kept.get(name, 0)
    }
    assert above == {}, "See the patterns above: (found, allowed) in each file."
