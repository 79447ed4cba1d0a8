"""Slow strangers take little memory of the proxies whose files we ship."""

import os
import re
import shutil
import socket
import subprocess
import threading
import time
from contextlib import ExitStack, closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parent.parent / "docs" / "deploy"
N_STRANGERS, MOST_EACH = 8, 10 << 20
SENT = 30 << 20
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="/proc")]


def which(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Site(BaseHTTPRequestHandler):
    """Read whole bodies, as the site does, and answer with their size."""

    def do_POST(self):
        n, read = int(self.headers.get("Content-Length") or 0), 0
        while read < n and (part := self.rfile.read(min(1 << 16, n - read))):
            read += len(part)
        self.send_response(200 if read == n else 400)
        said = f"{read} {self.headers['X-Forwarded-For']}".encode()
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture
def site():
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.daemon_threads, server.block_on_close = True, False
        server.handle_error = lambda *_: None  # who is refused hangs up
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        return found.getsockname()[1]


def caddy(folder, port, site):
    shown = subprocess.check_output([which("caddy"), "version"], text=True)
    version = [int(n) for n in re.findall(r"\d+", shown)[:2]]
    env = {
        **{"HOME": str(folder), "PATH": os.environ["PATH"], "GOMAXPROCS": "2"},
        "GENIE_HOSTS": f"http://127.0.0.1:{port}",
        "GENIE_UPSTREAM": site,
        "GENIE_CADDY": "2.6" if version < [2, 7] else "2.7",
    }
    # two of them on one machine would share the port of its own administration
    config = (DEPLOY / "Caddyfile").read_text("utf-8")
    config = config.replace("\tservers", "\tadmin off\n\tservers", 1)
    (folder / "Caddyfile").write_text(config)
    words = [which("caddy"), "run", "--config", str(folder / "Caddyfile")]
    return subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL)


def nginx(folder, port, site):
    shipped = (DEPLOY / "nginx.conf").read_text("utf-8")
    assert shipped.count("listen 80;") == 1
    shipped = shipped.replace("listen 80;", f"listen 127.0.0.1:{port};")
    shipped = shipped.replace("127.0.0.1:8000", site)
    own = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # workers of another account could not write below the test's folder
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{own}{shipped}}}\n"
    )
    words = [which("nginx"), "-e", f"{folder}/errors", "-c", f"{folder}/nginx.conf"]
    return subprocess.Popen(words, stderr=subprocess.DEVNULL)


@pytest.fixture(params=[caddy, nginx], ids=lambda one: one.__name__)
def proxy(request, tmp_path, site):
    start = request.param
    if which(start.__name__) is None:
        pytest.skip(f"{start.__name__} is not installed")
    port = free_port()
    process = start(tmp_path, port, site)
    try:
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        assert process.poll() is None, "the proxy refused the shipped file"
        yield start.__name__, process.pid, port
    finally:
        process.terminate()
        process.wait(20)


def memory(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = [Path(f"/proc/{one}/status").read_text() for one in (pid, *children)]
    return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) << 10 for text in status)


def begin(port, path, size):
    found = socket.create_connection(("127.0.0.1", port), 10)
    found.settimeout(10)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {size}\r\n"
    )
    found.sendall(f"{head}X-Forwarded-For: 192.0.2.1\r\n\r\n".encode())
    return found


def send(connection, size):
    part, sent = b"x" * (1 << 16), 0
    try:
        while sent < size:
            sent += connection.send(part[: size - sent])
    except OSError:
        pass  # refused by size, which closes the connection
    return sent


@pytest.mark.parametrize("path", ["/login/", "/tasks/xsum/check/"])
def test_slow_uploads_take_little_memory(proxy, path):
    name, pid, port = proxy
    before = memory(pid)
    with ExitStack() as opened:
        for _ in range(N_STRANGERS):
            one = opened.enter_context(closing(begin(port, path, SENT + 1)))
            send(one, SENT)
        time.sleep(1)
        taken = memory(pid) - before
    print(f"\n{name}, {path}: {taken >> 20} MB for {N_STRANGERS} slow strangers")
    assert taken < N_STRANGERS * MOST_EACH


@pytest.mark.parametrize(
    ("path", "size", "passes"),
    [
        ("/login/", 1 << 20, True),
        ("/tasks/xsum/check/", SENT, True),
        ("/api/v1/tasks/xsum/submissions/", SENT, True),
        ("/login/", SENT, False),
        ("/work/check/", SENT, False),
        ("/tasks/xsum/check/", 120 << 20, False),
    ],
)
def test_files_pass_and_large_forms_do_not(proxy, path, size, passes):
    _, _, port = proxy
    with closing(begin(port, path, size)) as one:
        send(one, size)
        try:
            answer = one.recv(1 << 12)
        except OSError:
            answer = b""
    assert answer.startswith(b"HTTP/1.1 200") == passes
    if passes:
        assert answer.endswith(f"{size} 127.0.0.1".encode())
    else:
        assert b"192.0.2.1" not in answer
