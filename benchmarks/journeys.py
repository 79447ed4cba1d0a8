"""Count the functions, modules and folders of the product that three journeys pass through.

    python -m benchmarks.journeys

The journeys are tests: a submission until it is on the board, the approval of a cost, and
an import that gets a board. The count of a journey is the same in each run.
"""

import inspect
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("leaderboard", "crowd", "quality", "genie")
JOURNEYS = {
    "submission": "tests/leaderboard/evaluation/walk/test_loop.py::test_the_walk_ends_on_the_board_with_the_right_score",
    "approval": "tests/leaderboard/evaluation/walk/test_loop.py::test_the_cost_shown_is_the_cost_set_aside",
    "import": "tests/leaderboard/imports/test_bring_in.py::test_a_plain_table_gets_a_ranked_board",
}
# What comes before is not part of these.
WITHOUT_FIXTURES = {"approval", "import"}


class Tracer:
    def __init__(self) -> None:
        self.called: dict[str, set[tuple[str, str]]] = {
            name: set() for name in JOURNEYS
        }

    def tracing(
        self, item: pytest.Item, *, fixtures: bool
    ) -> Callable[..., None] | None:
        for name, test in JOURNEYS.items():
            if item.nodeid == test and not (fixtures and name in WITHOUT_FIXTURES):
                return lambda frame, event, _: self.note(name, frame, event)
        return None

    def note(self, journey: str, frame: FrameType, event: str) -> None:
        code = frame.f_code
        # bodies of classes run once, when a module is first loaded
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and is_function and code.co_filename.startswith(str(ROOT)):
            path = code.co_filename[len(str(ROOT)) + 1 :]
            if path.startswith(APPS) and not code.co_name.startswith("<"):
                self.called[journey].add((path, code.co_qualname))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any]:
        sys.setprofile(self.tracing(item, fixtures=True))
        yield
        sys.setprofile(None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any]:
        sys.setprofile(self.tracing(item, fixtures=False))
        yield
        sys.setprofile(None)


def main() -> None:
    tracer = Tracer()
    failed = pytest.main(["-q", "--no-migrations", *JOURNEYS.values()], [tracer])
    for name, called in tracer.called.items():
        modules = {path for path, _ in called}
        folders = {str(Path(path).parent) for path in modules}
        print(
            f"{name:10} {len(called):5} functions in {len(modules):4} modules of "
            f"{len(folders):3} folders"
        )
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
