"""Verify AWS Signature Version 4, without Amazon's libraries."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from crowd.requester.protocol.errors import TurkError

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
# If these were not signed, the request could be redirected.
MUST_SIGN = frozenset({"host", "x-amz-date", "x-amz-target"})
CLOCK_SKEW = timedelta(minutes=15)
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256\s+Credential=(?P<key>[^/,\s]+)/(?P<scope>[^,\s]+)\s*,\s*"
    r"SignedHeaders=(?P<headers>[a-z0-9;-]+)\s*,\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class SignedRequest:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


def verify(
    request: SignedRequest, secrets_of: Callable[[str], list[str]], now: datetime
) -> str:
    """Return the id of the access key that signed the request, or refuse it.

    `secrets_of` returns the possible secrets of a key, none for invalid keys. The
    time of the signature must be within 15 minutes of `now`, which is aware.
    """
    header = request.headers.get("authorization", "")
    if not header:
        raise _refusal(
            "MissingAuthenticationTokenException", "The request is not signed."
        )
    parts = _AUTHORIZATION.fullmatch(header.strip())
    if parts is None:
        raise _refusal(
            "IncompleteSignatureException",
            "The Authorization header is not a Signature Version 4.",
        )
    signed = parts["headers"].split(";")
    stamp = _checked_scope(request, parts["scope"], signed, now)
    secrets = secrets_of(parts["key"])
    # Compared for unknown keys too, so that the answer takes equally long.
    matches = [
        hmac.compare_digest(
            _signature(request, secret, parts["scope"], signed, stamp),
            parts["signature"],
        )
        for secret in secrets or [""]
    ]
    if not secrets:
        raise _refusal(
            "UnrecognizedClientException", "The access key included is not valid."
        )
    if not any(matches):
        raise _refusal(
            "InvalidSignatureException",
            "The signature does not match: check the secret access key.",
        )
    return parts["key"]


def _checked_scope(
    request: SignedRequest, scope: str, signed: list[str], now: datetime
) -> str:
    lacking = MUST_SIGN - set(signed)
    if lacking or any(name not in request.headers for name in signed):
        raise _refusal(
            "IncompleteSignatureException",
            "The headers host, x-amz-date and x-amz-target must be sent and signed.",
        )
    stamp = request.headers["x-amz-date"]
    try:
        sent_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _refusal(
            "IncompleteSignatureException", "X-Amz-Date is not a date."
        ) from None
    pieces = scope.split("/")
    if (
        len(pieces) != 4
        or pieces[0] != stamp[:8]
        or pieces[2:] != [SERVICE, "aws4_request"]
    ):
        raise _refusal(
            "InvalidSignatureException",
            f"The credential must be for today and the service {SERVICE}.",
        )
    if abs(now - sent_at) > CLOCK_SKEW:
        raise _refusal(
            "InvalidSignatureException",
            f"Signature expired: {stamp} is too far from now; check the clock.",
        )
    return stamp


def _signature(
    request: SignedRequest, secret: str, scope: str, signed: list[str], stamp: str
) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(request.query, keep_blank_values=True)
    )
    lines = [
        request.method,
        quote(request.path, safe="/-_.~"),
        "&".join(f"{name}={value}" for name, value in pairs),
        # A run of spaces in a header counts as one.
        *(f"{name}:{' '.join(request.headers[name].split())}" for name in signed),
        "",
        ";".join(signed),
        hashlib.sha256(request.body).hexdigest(),
    ]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for piece in scope.split("/"):
        key = hmac.digest(key, piece.encode(), "sha256")
    text = "\n".join([ALGORITHM, stamp, scope, digest])
    return hmac.digest(key, text.encode(), "sha256").hex()


def _refusal(kind: str, message: str) -> TurkError:
    return TurkError(message, "AWS.NotAuthorized", kind=kind)
