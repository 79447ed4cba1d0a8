"""What files that strangers send for a check cost: CPU seconds and peak memory.

Each file is sent to the page and to the API in a process of its own. What that process
and its children use is counted, from the request's first byte to the answer's last.
"""

import gzip
import json
import logging
import os
import re
import resource
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import world

N_INSTANCES = 1_000
SECONDS_AT_MOST = 1.0
MEGABYTES_AT_MOST = 100
MEGABYTE = 1 << 20
# so much the page took before it had limits
LARGE = 17 * MEGABYTE
MOST = 7 * MEGABYTE
BOUNDARY = "bench"


def multipart(content: bytes, name: str, **fields: str) -> bytes:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    head = (
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
        f'"file"; filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
    )
    return (
        "".join([*parts, head]).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    )


def filled(row: bytes, size: int) -> bytes:
    return row * (size // len(row))


def unknown_ids(size: int) -> bytes:
    n = size // 12
    return b"{" + b",".join(b'"%07d":""' % i for i in range(n)) + b"}"


def squeezed(content: bytes) -> bytes:
    """Compress to just below the ratio at which a file counts as a bomb."""
    return gzip.compress(content, 1)


def bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(b"a" * 100 * MEGABYTE) + packer.flush()


def hostile(ids: list[str]) -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Give a name, the file's name and its content, for each kind of file."""
    good = dict(zip(ids, world.texts(len(ids), seed=1), strict=True))
    yield "a good file", "p.json", lambda: json.dumps(good).encode()
    for size in (MOST, LARGE):
        of = f"{size >> 20} MB of"
        texts = world.texts(len(ids), seed=1, n_words=size // len(ids) // 4)
        full = json.dumps(
            {
                key: text[: size // len(ids) - 20]
                for key, text in zip(ids, texts, strict=True)
            }
        )
        yield f"{of} good texts", "p.json", full.encode
        smile = full.replace("a", "\N{GRINNING FACE}", 10)
        yield f"{of} good texts, some emoji", "p.json", smile.encode
        yield f"{of} unknown ids", "p.json", lambda size=size: unknown_ids(size)
        yield f"{of} unknown ids, no name", "p", lambda size=size: unknown_ids(size)
        yield (
            f"{of} repeated ids",
            "p.json",
            lambda size=size: b"{" + filled(b'"a":"",', size)[:-1] + b"}",
        )
        yield (
            f"{of} rows",
            "p.jsonl",
            lambda size=size: filled(b'{"id":"","text":""}\n', size),
        )
        yield (
            f"{of} empty lists",
            "p.json",
            lambda size=size: b'{"a":[' + filled(b"[],", size) + b"0]}",
        )
        yield f"{of} deep lists", "p.json", lambda size=size: b"[" * size
        yield (
            f"{of} lines of deep lists",
            "p.jsonl",
            lambda size=size: filled(b"[" * 1_000 + b"\n", size),
        )
        yield (
            f"{of} one number",
            "p.json",
            lambda size=size: b'{"a":' + b"9" * size + b"}",
        )
        yield f"{of} empty lines", "p.txt", lambda size=size: b"\n" * size
        yield f"{of} one line", "p.txt", lambda size=size: b"a" * size
        yield f"{of} tabs", "p.tsv", lambda size=size: filled(b"\t\n", size)
        yield (
            f"{of} emoji",
            "p.txt",
            lambda size=size: "\N{GRINNING FACE}\n".encode() * (size // 5),
        )
        yield f"{of} controls", "p.json", lambda size=size: b"\x01" * size
        yield f"{of} brackets in lines", "p", lambda size=size: filled(b"[\n", size)
        yield (
            f"{of} unknown ids, packed",
            "p.json.gz",
            lambda size=size: squeezed(unknown_ids(size)),
        )
    yield "a gzip bomb", "p.json.gz", bomb


def bodies() -> Iterator[tuple[str, bytes]]:
    """Give bodies that are costly as forms, whatever file they hold."""
    nameless = f"--{BOUNDARY}\r\n\r\n\r\n".encode()
    for size in (MOST, LARGE):
        of = f"{size >> 20} MB"
        yield f"{of} of parts without a name", filled(nameless, size)
        yield f"{of} of line ends", filled(b"\r\n", size)
        yield f"{of} that begin like boundaries", filled(b"\r\n--benc", size)


def own_memory(pid: int | str) -> int:
    """Give the most kilobytes that a process has had since it began its program."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) if found else 0


def watch_children(most: list[float], over: threading.Event) -> None:
    """Keep the most memory of any child, and the seconds that watching took.

    What the system tells of a child once it has ended counts its parent's memory, too.
    """
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while not over.wait(0.002):
        for pid in children.read_text().split():
            with suppress(OSError):  # it has ended
                # before it begins its program, it is a copy of this process
                if b"bounded.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    most[0] = max(most[0], own_memory(pid))
        most[1] = time.thread_time()


def used() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


def cost(path: str, body: bytes, headers: dict[str, str], answers: Any) -> None:
    """Send one request and put down what it cost; runs in a process of its own."""
    client = new_client()
    most, over = [0.0, 0.0], threading.Event()
    watch = threading.Thread(target=watch_children, args=(most, over))
    watch.start()
    start, watched = used(), most[1]
    memory = own_memory("self")
    sent = client.post(
        path,
        body,
        content_type=f"multipart/form-data; boundary={BOUNDARY}",
        headers=headers,
    )
    seconds = used() - start - (most[1] - watched)
    grown = own_memory("self") - memory + most[0]
    over.set()
    watch.join()
    answers.put((sent.status_code, seconds, grown / 1024))


def new_client() -> Any:
    from django.core.cache import cache
    from django.test import Client

    cache.clear()
    return Client(raise_request_exception=False)


def main() -> None:
    folder = world.set_up()
    logging.disable(logging.CRITICAL)
    from django.contrib.auth import get_user_model
    from django.db import connections

    from genie.accounts import tokens
    from leaderboard.tasks.services import load

    source, ids, _ = world.lines(folder, N_INSTANCES)
    load.load_task("demo-translation", source)
    owner = get_user_model().objects.create_user("bench")
    _, secret = tokens.issue(owner, name="bench", scopes=["submit"], days=None)
    page = (
        "/tasks/demo-translation/check/",
        {"accept": "application/json", "host": "localhost"},
    )
    api = (
        "/api/v1/submissions/validate/",
        {"authorization": f"Token {secret}", "host": "localhost"},
    )
    # the first request of a process imports and compiles what all others use
    for path, headers in (page, api):
        small = multipart(b"{}", "p.json", task="demo-translation")
        content_type = f"multipart/form-data; boundary={BOUNDARY}"
        new_client().post(path, small, content_type=content_type, headers=headers)
    connections.close_all()

    fork = get_context("fork")
    answers = fork.SimpleQueue()
    worst = [0.0, 0.0]

    def measure(label: str, door: tuple[str, dict[str, str]], body: bytes) -> None:
        process = fork.Process(target=cost, args=(door[0], body, door[1], answers))
        process.start()
        status, seconds, megabytes = answers.get()
        process.join()
        worst[:] = [max(worst[0], seconds), max(worst[1], megabytes)]
        print(
            f"{label:60} {status} {seconds:6.2f} CPU s {megabytes:6.0f} MB", flush=True
        )

    only = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, file_name, make in hostile(ids):
        if only in name:
            content = make()
            measure(f"page: {name}", page, multipart(content, file_name))
            measure(
                f"API: {name}",
                api,
                multipart(content, file_name, task="demo-translation"),
            )
    for name, body in bodies():
        if only in name:
            measure(f"page: {name}", page, body)
            measure(f"API: {name}", api, body)
    print(
        f"at most {worst[0]:.2f} CPU s (limit {SECONDS_AT_MOST}) and {worst[1]:.0f} MB "
        f"(limit {MEGABYTES_AT_MOST})"
    )
    if worst[0] > SECONDS_AT_MOST or worst[1] > MEGABYTES_AT_MOST:
        raise SystemExit("A stranger's check costs more than it may.")


if __name__ == "__main__":
    main()
