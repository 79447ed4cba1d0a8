"""A small server that speaks OpenAI's protocol, and misbehaves as it is told.

It answers by a rule (how long the last text is), so that tests know what must come out,
and remembers every request as it came.
"""

import gzip
import json
import re
import time
from collections import Counter, deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

_TEXT = re.compile(
    r"=== text \d+ begins · ([^\n]*) · mark (\w+)\n(.*?)\n=== text \d+ ends · mark \2",
    re.S,
)
_CRITERION = re.compile(r"^- ([^:\n]+):", re.M)


def texts_in(body):
    """Take the delimited texts out of a request, by their labels."""
    user = body["messages"][-1]["content"]
    return {label: text for label, _, text in _TEXT.findall(user)}


def criteria_in(body):
    questions = body["messages"][-1]["content"].partition("# Questions")[2]
    return _CRITERION.findall(questions)


def by_length(body):
    """Answer by how long outputs are: of two the longer one, alone in quarters of 40."""
    outputs = [t for name, t in texts_in(body).items() if name.startswith("Output")]
    if len(outputs) == 2:
        first = len(outputs[0]) >= len(outputs[1])
        return "A is better" if first else "B is better"
    steps = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    return steps[min(4, len(outputs[0]) // 10)]


class JudgeServer:
    """What the server is told to do, and what it saw."""

    def __init__(self):
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.lock = Lock()
        self.delay = 0.0
        self.model = "stand-in-1"
        self.answer = by_length
        self.tokens = (100, 20)
        self.counts_tokens = True
        # what to do with the next requests, before they are answered as usual: a status,
        # or a text to answer with
        self.next: deque = deque()
        # what to do with every request, by its body; None: as usual
        self.rule = lambda body: None
        self.at_once = 0
        self.most_at_once = 0
        self.n_parts = 0
        # no answer goes out before so many have been here at once; not for ever
        self.answers_when_at_once = 1

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def n_by_key(self):
        return Counter(headers.get("idempotency-key") for headers in self.headers)

    def everything(self):
        """Give all that was ever sent here, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def completion(self, body):
        told = self.rule(body)
        if told is None:
            given = {c: {"reason": "by length", "answer": self.answer(body)} for c in criteria_in(body)}  # fmt: skip
            told = json.dumps(given)
        message = {"role": "assistant", "content": told}
        if told == "REFUSE":
            message = {"role": "assistant", "content": None, "refusal": "I will not."}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": self.model,
            "system_fingerprint": f"fp-{self.model}",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        }
        if self.counts_tokens:
            n_in, n_out = self.tokens
            answer["usage"] = {
                "prompt_tokens": n_in,
                "completion_tokens": n_out,
                "total_tokens": n_in + n_out,
            }
        return answer


# what a response begins with, what is sent again and again, and how often
BAD = {
    "drip": (b"\r\n", b" ", 0.05),
    "drip headers": (b"", b"X-More: 1\r\n", 0.05),
    "much": (b"\r\n", b" " * (1 << 20), 0),
    "gzip": (b"Content-Encoding: gzip\r\n\r\n", gzip.compress(bytes(1 << 20)), 0.05),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        judge = self.server.judge
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        with judge.lock:
            judge.requests.append(body)
            judge.headers.append({k.lower(): v for k, v in self.headers.items()})
            told = judge.next.popleft() if judge.next else None
            judge.at_once += 1
            judge.most_at_once = max(judge.most_at_once, judge.at_once)
        try:
            self._answer(body, told)
        finally:
            with judge.lock:
                judge.at_once -= 1

    def _answer(self, body, told):
        judge = self.server.judge
        time.sleep(judge.delay)
        latest = time.monotonic() + 20
        while judge.most_at_once < judge.answers_when_at_once:
            if time.monotonic() > latest:
                break
            time.sleep(0.01)
        if told == "hang up":
            self.close_connection = True
            self.connection.close()
            return
        if isinstance(told, int):
            headers = {"Retry-After": "0.05"} if told == 429 else {}
            self._send(told, {"error": {"message": "told to, key sk-secret"}}, headers)
            return
        answer = judge.completion(body)
        if told in BAD:
            return self._drip(*BAD[told])
        if isinstance(told, str):
            answer["choices"][0]["message"]["content"] = told
        self._send(200, answer)

    def _drip(self, begins, part, pause):
        """Send until nobody listens any more, as servers do that keep one waiting."""
        self.close_connection = True
        try:
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n" + begins
            )
            for self.server.judge.n_parts in range(200):
                self.wfile.write(part)
                time.sleep(pause)
        except OSError:
            return

    def _send(self, status, answer, headers=None):
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing of clients that were told to be killed, or to give up."""


@contextmanager
def serving():
    """Serve until the block ends."""
    judge = JudgeServer()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.judge = judge
    judge.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
