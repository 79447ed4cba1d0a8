import json
import re
from difflib import unified_diff
from pathlib import Path
from zlib import crc32

import pytest
from django.db.models import DateTimeField, Model

FILES = Path(__file__).resolve().parent
LINES = 60
LONG = re.compile(r"-?\d+\.\d{7,}(?:e-?\d+)?")
UNLIKE = {"password", "file", "content_type", "n_starts", "n_attempts"}  # drawn anew
_told: list[str] = []


def tell(text: str) -> None:
    """Let all texts of this test be compared with a committed file of its name."""
    _told.append(rounded(text))


def rounded(text: str) -> str:
    text = re.sub(r"(127\.0\.0\.1):\d+", r"\1", text)
    return LONG.sub(lambda found: f"{float(found[0]):.6f}", text)


def stored(*models: type[Model], times: bool = False) -> str:
    """Return a test's own rows: what is not empty, of keys their places; without times, sorted."""
    rows, number = [], {}
    for model in models:
        own = [row for row in model._base_manager.order_by("pk") if not in_decoy(row)]
        number |= {(model, row.pk): n for n, row in enumerate(own, 1)}
        rows += own
    lines = []
    for row in rows:
        said = {}
        for field in row._meta.concrete_fields:
            value = getattr(row, field.attname)
            if value in (None, "", {}, []) or field.name in UNLIKE:
                continue
            if (field.primary_key or isinstance(field, DateTimeField)) and not times:
                continue
            if field.is_relation or field.primary_key:
                model = field.related_model or type(row)
                value = number.get((model, value), value)
            # PostgreSQL does not keep the order of keys
            is_json = isinstance(value, dict | list)
            said[field.name] = (
                json.loads(json.dumps(value, sort_keys=True)) if is_json else value
            )
        text = json.dumps(said, default=str, ensure_ascii=False)
        lines.append(f"{type(row).__name__} {rounded(text)}")
    return "\n".join(lines if times else sorted(lines)) + "\n"


def in_decoy(row: Model) -> bool:
    return isinstance(row.pk, int) and row.pk < 0


@pytest.fixture
def net(request):
    """Compare a text with a committed file, or write that file anew."""
    rewrites = request.config.getoption("--rewrite")

    def compare(name: str, text: str) -> None:
        file = FILES / name
        old = file.read_bytes().decode() if file.exists() else ""
        if old == text:
            return
        if rewrites:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
            return
        two = old.splitlines(), text.splitlines()
        lines = [*unified_diff(*two, "committed", "today", n=1, lineterm="")]
        test = request.node.nodeid.partition("::")[0]
        advice = f"If this is meant: pytest {test} --rewrite, then read git diff."
        told = [f"tests/nets/{name} differs. {advice}", *lines[:LINES]]
        pytest.fail("\n".join(told), pytrace=False)

    return compare


@pytest.fixture(autouse=True)
def texts_are_as_committed(net, request):
    _told.clear()
    yield
    if request.node.get_closest_marker("browser"):
        return
    case = request.node.name.partition("[")[2]
    name = request.function.__name__[5:] + (case and f"-{crc32(case.encode()):x}")
    path = f"told/{request.path.stem[5:]}/{name}.txt"
    if _told or (FILES / path).exists():
        net(path, "".join(f"{text}\n" for text in _told))
