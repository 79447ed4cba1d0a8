"""SNS's signatures for tests: a key, and its certificate at an https address of ours."""

from __future__ import annotations

import base64
import ssl
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

# As the service's documents list them, in this order.
NOTICE = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
QUESTION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]  # fmt: skip


def make_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def make_certificate(key, name, *, until=None):
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    until = until or now + timedelta(days=2)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - timedelta(days=9))
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


class HTTPSServer(HTTPServer):
    """A server on loopback whose certificate it signs itself."""

    def __init__(self, folder, key, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.authority = folder / "authority.pem"
        self.authority.write_bytes(make_certificate(key, "localhost"))
        secret = folder / "key.pem"
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, secret)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.host = f"localhost:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join(5)
        self.server_close()


class Signer:
    """Signs as the service does; the one that runs is `Signer.running`."""

    running: ClassVar[Signer | None] = None

    def __init__(self, folder):
        self.key = make_key()
        yesterday = datetime.now(UTC) - timedelta(days=1)
        self.pages = {
            "/good.pem": make_certificate(self.key, "sns"),
            "/old.pem": make_certificate(self.key, "sns", until=yesterday),
            "/other.pem": make_certificate(make_key(), "sns"),
        }
        self.seen = []
        self.server = HTTPSServer(folder, self.key, self._handler())
        self.authority, self.host = self.server.authority, self.server.host

    def __enter__(self):
        self.server.__enter__()
        Signer.running = self
        return self

    def __exit__(self, *_):
        Signer.running = None
        self.server.__exit__()

    def sign(self, body, *, version="2", certificate="good"):
        names = NOTICE if body["Type"] == "Notification" else QUESTION
        text = "".join(f"{name}\n{body[name]}\n" for name in names if name in body)
        algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), algorithm)
        return {
            **body,
            "SignatureVersion": version,
            "Signature": base64.b64encode(signature).decode(),
            "SigningCertURL": f"https://{self.host}/{certificate}.pem",
        }

    def _handler(signer):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                signer.seen.append(self.path)
                page = signer.pages.get(self.path)
                self.send_response(200 if page else 404)
                self.end_headers()
                self.wfile.write(page or b"")

            def log_message(self, *_):
                pass

        return Handler
