"""A proxy in front of a real server that does to calls what networks and servers do."""

import contextlib
import http.client
import itertools
import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np

TARGET = "MTurkRequesterServiceV20170117."
# Faults after which the server has carried the call out, and the client does not know.
AFTER_COMMIT = ("lost", "broken-answer", "slow", "twice")
BEFORE = ("throttle", "fault-500", "busy-503", "reset")


class FaultyProxy:
    """Forwards calls; `faults` says what goes wrong, how often, in which operations.

    The chance is drawn from a seed, and never three times running for one operation, so
    that those who try often enough get through. The kinds take turns.
    """

    def __init__(self, url, *, seed=7):
        parts = urlsplit(url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path
        self.fail(())
        self.left = 10_000  # so many faults and no more
        self.silence = 1.0
        self.short_pages = False
        self.hidden_lists = 0  # so many ListHITs show nothing yet
        self.seen = []  # (operation, fault) of everything that arrived
        self.rng = np.random.default_rng(seed)
        self.pages = {}
        self.running = {}
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}{self.path}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def fail(self, kinds, share=1.0, only=None):
        self.kinds, self.share, self.only = kinds, share, only
        self.turns = itertools.cycle(kinds)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)

    def draw(self, operation):
        with self.lock:
            fault = None
            wanted = self.only is None or operation in self.only
            row = self.running.get(operation, 0)
            able = bool(self.kinds) and wanted and row < 2 and self.left > 0
            if able and self.rng.random() < self.share:
                fault = next(self.turns)
                self.left -= 1
            self.running[operation] = self.running.get(operation, 0) + 1 if fault else 0
            self.seen.append((operation, fault))
            return fault

    def forward(self, headers, body):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request("POST", self.path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def listed(self, operation, asked, status, body):
        """Cut a list into short pages with an empty one between, or hide it for now."""
        if status != 200 or not operation.startswith("List"):
            return body
        answer = json.loads(body)
        name = next((k for k, v in answer.items() if isinstance(v, list)), None)
        if name is None:
            return body
        if operation == "ListHITs" and self.hidden_lists > 0:
            self.hidden_lists -= 1
            return json.dumps({"NumResults": 0, name: []}).encode()
        if not self.short_pages or not answer[name]:
            return body
        rows = answer[name]
        half = len(rows) // 2
        token = f"proxy-{len(self.pages)}"
        self.pages[f"{token}-a"] = {
            name: [],
            "NumResults": 0,
            "NextToken": f"{token}-b",
        }
        self.pages[f"{token}-b"] = {**answer, name: rows[half:], "NumResults": 0}
        first = {name: rows[:half], "NumResults": half, "NextToken": f"{token}-a"}
        return json.dumps(first).encode()

    def _handler(proxy):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                operation = self.headers["X-Amz-Target"].removeprefix(TARGET)
                fault = proxy.draw(operation)
                token = str(json.loads(body).get("NextToken", ""))
                if token.startswith("proxy-"):
                    return self.reply(200, json.dumps(proxy.pages[token]).encode())
                if fault in BEFORE:
                    return self.before(fault)
                status, answer = proxy.forward(dict(self.headers), body)
                if fault == "twice":
                    status, answer = proxy.forward(dict(self.headers), body)
                if fault == "lost":
                    return self.reset()
                if fault == "broken-answer":
                    return self.error(500, "ServiceFault", "Something broke.")
                if fault == "slow":
                    time.sleep(proxy.silence)
                    return self.reset()
                asked = json.loads(body)
                self.reply(status, proxy.listed(operation, asked, status, answer))
                return None

            def before(self, fault):
                if fault == "throttle":
                    return self.error(400, "ThrottlingException", "Rate exceeded")
                if fault == "fault-500":
                    return self.error(500, "ServiceFault", "Try again.")
                if fault == "busy-503":
                    self.reply(503, b"<html>busy</html>", "text/html")
                    return None
                return self.reset()

            def error(self, status, kind, message):
                self.reply(
                    status, json.dumps({"__type": kind, "message": message}).encode()
                )

            def reply(self, status, body, kind="application/x-amz-json-1.1"):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("x-amzn-RequestId", "proxy")
                self.end_headers()
                with contextlib.suppress(OSError):  # the client has lost patience
                    self.wfile.write(body)

            def reset(self):
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()

            def log_message(self, *_):
                pass

        return Handler
