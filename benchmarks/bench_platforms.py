"""How fast campaigns go to Mechanical Turk and come back, against servers of two kinds.

One answers each call after 50 ms; the other allows 20 calls a second and refuses the
rest. Both are processes of their own on this machine that speak just enough of the
protocol; what is measured is the adapter, with the same calls as in production.

    python -m benchmarks.bench_platforms
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from crowd.platforms.base import ExternalRef, HITSpec
from crowd.platforms.mturk import Account, MTurk

TARGET = "MTurkRequesterServiceV20170117."
PAGE = "<!DOCTYPE html><title>x</title><p>" + "A sentence to read. " * 400 + "</p>"
ANSWER = (
    "<QuestionFormAnswers xmlns='urn:x'><Answer><QuestionIdentifier>answer-0-0"
    "</QuestionIdentifier><FreeText>0.75</FreeText></Answer></QuestionFormAnswers>"
)
LEAST_SPEED_UP = 6.0
LEAST_SHARE = 0.9


class Bucket:
    """So many calls a second, and one second's worth at once."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.full = self.left = rate
        self.at = time.monotonic()
        self.lock = threading.Lock()

    def take(self) -> bool:
        with self.lock:
            now = time.monotonic()
            self.left = min(self.full, self.left + (now - self.at) * self.rate)
            self.at = now
            if self.left < 1:
                return False
            self.left -= 1
            return True


def serve(port: Any, delay: float, rate: float) -> None:
    """Serve for ever; tell the port by a pipe."""
    bucket = Bucket(rate) if rate else None
    names = iter(range(1, 10**9))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if bucket is not None and not bucket.take():
                self.reply(400, {"__type": "ThrottlingException", "message": "Slow."})
                return
            time.sleep(delay)
            operation = self.headers["X-Amz-Target"].removeprefix(TARGET)
            if operation == "CreateHITWithHITType":
                self.reply(200, {"HIT": {"HITId": f"3HIT{next(names)}"}})
            else:
                self.reply(200, {"NumResults": 1, "Assignments": [row(asked["HITId"])]})

        def reply(self, status: int, answer: dict[str, Any]) -> None:
            body = json.dumps(answer).encode()
            head = (
                f"HTTP/1.1 {status} -\r\nContent-Type: application/x-amz-json-1.1\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            self.wfile.write(head.encode() + body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


def row(hit_id: str) -> dict[str, Any]:
    return {
        "AssignmentId": f"3A{hit_id}",
        "WorkerId": "A1",
        "HITId": hit_id,
        "AssignmentStatus": "Submitted",
        "SubmitTime": 1_700_000_000,
        "Answer": ANSWER,
    }


class StandIn:
    def __init__(self, *, delay: float = 0.0, rate: float = 0.0) -> None:
        here, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=serve, args=(there, delay, rate), daemon=True
        )
        self.process.start()
        self.url = f"http://127.0.0.1:{here.recv()}/"

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.join()


def adapter(url: str, threads: int, tries: int = 8) -> MTurk:
    return MTurk(
        Account(
            "endpoint",
            endpoint_url=url,
            access_key_id="A",
            secret_access_key="B",
            threads=threads,
            tries=tries,
        )
    )


def round_trip(url: str, threads: int, n: int) -> tuple[float, int, int]:
    """Post `n` HITs and collect their assignments; seconds, posted, collected."""
    platform = adapter(url, threads)
    ref = ExternalRef("3TYPE")
    start = time.perf_counter()
    specs = [HITSpec(str(i), page=PAGE) for i in range(n)]
    posted = {
        r.key: r.platform_id for r in platform.post(ref, specs) if r.state == "done"
    }
    collected = list(platform.sync(ExternalRef("3TYPE", posted), None))
    return time.perf_counter() - start, len(posted), len(collected)


def slow_server(n: int, threads: int) -> bool:
    with StandIn(delay=0.05) as server:
        round_trip(server.url, threads, 20)  # connections are made, modules loaded
        n_alone = max(n // 8, 1)
        alone, *_ = round_trip(server.url, 1, n_alone)
        alone *= n / n_alone
        seconds, posted, collected = round_trip(server.url, threads, n)
    print(f"50 ms a call, {n} HITs posted and {n} assignments collected")
    print(f"  one after another (from {n_alone}): {alone:8.1f} s")
    print(f"  {threads} threads: {seconds:8.1f} s, {alone / seconds:.1f} times as fast")
    good = posted == collected == n and alone / seconds >= LEAST_SPEED_UP
    print(f"  all there: {posted == collected == n}; at least 6 times: {good}")
    return good


def strict_server(n: int, threads: int, rate: float) -> bool:
    with StandIn(rate=rate) as server:
        seconds, posted, collected = round_trip(server.url, threads, n)
    share = (posted + collected) / (rate * seconds + rate)
    print(f"{rate:.0f} calls a second allowed, {n} HITs posted and collected")
    print(f"  {seconds:.1f} s, {posted + collected} of {2 * n} calls went through")
    print(f"  {100 * share:.0f} % of what the server allows, its first burst counted")
    good = posted == collected == n and share >= LEAST_SHARE
    print(f"  no failure and at least 90%: {good}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=800)
    parser.add_argument("--threads", type=int, default=10)
    parser.add_argument("--strict-n", type=int, default=300)
    given = parser.parse_args()
    good = slow_server(given.n, given.threads)
    good &= strict_server(given.strict_n, given.threads, 20.0)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
