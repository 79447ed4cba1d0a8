"""What a file's reader must not be able to do; called in a child by test_bounded.py."""

import os
from typing import IO


def count(stream: IO[bytes], *, extra: int = 0) -> int:
    return len(stream.read()) + extra


def spin(stream: IO[bytes]) -> None:
    while True:
        pass


def hoard(stream: IO[bytes]) -> int:
    return len([b"x" * (1 << 20) for _ in range(500)])


def sleep(stream: IO[bytes]) -> None:
    import time

    time.sleep(60)


def fail(stream: IO[bytes]) -> None:
    raise ValueError("This is a mistake of ours.")


def environment(stream: IO[bytes]) -> dict[str, str]:
    return dict(os.environ)
