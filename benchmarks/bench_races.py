"""Several people at the same moment, again and again, on a PostgreSQL server of its own.

    python -m benchmarks.bench_races --rounds 500

What is raced for stands in tests/crash/races.py; each round checks its own outcome.
"""

import argparse
import os
import shutil
import time
from contextlib import ExitStack

from benchmarks import throwaway_postgres, world


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--only", default="", help="races with this in their name")
    asked = parser.parse_args()
    with ExitStack() as stack:
        os.environ["DATABASE_URL"] = stack.enter_context(throwaway_postgres.server())
        folder = world.set_up()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        from tests.crash import races

        print(f"{'':40}{'rounds':>8}{'wrong':>8}{'seconds':>9}")
        wrong = 0
        for name in races.RACES:
            if asked.only in name:
                wrong += _report(races, name, asked.rounds)
    return int(wrong > 0)


def _report(races, name: str, rounds: int) -> int:
    """Run one race; print and give how many rounds came out wrong."""
    began, wrong, first = time.monotonic(), 0, ""
    with races.runners() as to:
        for _ in range(rounds):
            try:
                races.run_round(name, to)
            except Exception as error:  # noqa: BLE001 - counted, and the first told
                wrong += 1
                first = first or f"{type(error).__name__}: {error}"
    took = time.monotonic() - began
    print(f"{name:40}{rounds:8,}{wrong:8,}{took:9.1f}  {first}", flush=True)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
