import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from genie.lib.errors import GenieError

# The maximal difference between a notice's time and ours; an older one may be a replay.
TOLERANCE_SECONDS = 300


@dataclass(frozen=True)
class Notice:
    event_type: str
    resource_id: str


def signature(secret: str, timestamp: str, body: bytes) -> str:
    mac = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256)
    return base64.b64encode(mac.digest()).decode()


def read(
    secret: str, *, body: bytes, timestamp: str, signed: str, now: float
) -> Notice:
    """Read a notice, or refuse it.

    `timestamp` (Unix seconds) and `signed` are headers, `body` is unchanged, `now` is
    in Unix seconds. If the workspace's `secret` is empty, all notices are refused.

    Raises
    ------
    GenieError
        ``not-signed`` for a wrong or missing signature, ``too-old`` for a time that is
        not near ours, ``unreadable`` for an unusable body.
    """
    expected = signature(secret, timestamp, body)
    # Compared as bytes, because `compare_digest` takes only ASCII text.
    if not secret or not hmac.compare_digest(expected.encode(), signed.encode()):
        raise GenieError("The signature is not Prolific's.", code="not-signed")
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise GenieError(
            "The notice's timestamp is too old or in the future.", code="too-old"
        )
    try:
        notice = json.loads(body)
        return Notice(str(notice["event_type"]), str(notice["resource_id"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise GenieError("The notice is empty.", code="unreadable") from None
