from difflib import unified_diff
from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parent
LINES = 60


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
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
            return
        two = old.splitlines(), text.splitlines()
        lines = [*unified_diff(*two, "committed", "today", n=1, lineterm="")]
        test = request.node.nodeid.partition("::")[0]
        advice = f"If this is meant: pytest {test} --rewrite, then read git diff."
        told = [f"tests/nets/{name} differs. {advice}", *lines[:LINES]]
        pytest.fail("\n".join(told), pytrace=False)

    return compare
