"""`make test ARGS=--cpu-by-file`: where the processors' time goes, test by test.

Seconds by the clock say little on a busy machine. What counts is what the processors
did for a test, in its own process and in those that it started and waited for.
"""

import os
from collections import Counter
from pathlib import PurePath

import pytest

SHOWN = 40


def _used() -> float:
    return sum(os.times()[:4])


class CpuByFile:
    """Add up processor seconds by test and by file, and list the dearest."""

    def __init__(self) -> None:
        self._last = _used()
        self._by_test: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self._last = _used()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        now = _used()
        # Attributes of a report travel from the workers of pytest-xdist as they are.
        report.cpu_seconds, self._last = now - self._last, now
        return report

    def pytest_runtest_logreport(self, report):
        self._by_test[report.nodeid] += getattr(report, "cpu_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter):
        by_file: Counter[str] = Counter()
        by_folder: Counter[str] = Counter()
        for test, seconds in self._by_test.items():
            file = test.split("::")[0]
            by_file[file] += seconds
            by_folder[str(PurePath(file).parent)] += seconds
        total = sum(by_folder.values())
        terminalreporter.section(f"processor seconds: {total:.0f}")
        for title, counted in (
            ("test", self._by_test), ("file", by_file), ("folder", by_folder),
        ):  # fmt: skip
            terminalreporter.line(f"by {title}")
            for name, seconds in counted.most_common(SHOWN):
                terminalreporter.line(f"{seconds:8.1f}  {name}")
