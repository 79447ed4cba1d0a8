import base64
import binascii
import hashlib
import hmac
import http.client
import json
import logging
import re
import time
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowd.elsewhere.services import notices, subscriptions
from crowd.platforms.mturk_protocol.calls import Envelope, hits_in, open_envelope
from genie.lib import outbound
from genie.lib.errors import GenieError
from genie.lib.logs import one_line

# Check that SNS signed a message: the signature over its fields.
NOTICE = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
QUESTION = (
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
)


class NotSigned(GenieError):
    code = "not-signed"


def signed_text(fields: Mapping[str, Any]) -> bytes:
    r"""Return the text that is signed.

    Examples
    --------
    >>> signed_text({"Type": "Notification", "Message": "m", "MessageId": "7"})
    b'Message\nm\nMessageId\n7\nType\nNotification\n'
    """
    names = NOTICE if fields.get("Type") == "Notification" else QUESTION
    # JSON can hold half of a surrogate pair; such a message is refused as unsigned.
    lines = ((name, fields.get(name)) for name in names)
    return "".join(
        f"{name}\n{value}\n" for name, value in lines if isinstance(value, str)
    ).encode("utf-8", "surrogatepass")


def verify(fields: Mapping[str, Any], certificate: bytes, now: datetime) -> None:
    """Refuse a message that the certificate's key did not sign.

    The certificate is in PEM, and must be valid at `now`.

    Raises
    ------
    NotSigned
        Also for unknown signature versions.
    """
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    algorithms: dict[str, hashes.HashAlgorithm] = {
        "1": hashes.SHA1(),  # noqa: S303 - what topics sign with unless told otherwise
        "2": hashes.SHA256(),
    }
    algorithm = algorithms.get(str(fields.get("SignatureVersion", "")))
    if algorithm is None:
        raise NotSigned("Its SignatureVersion is neither 1 nor 2.")
    try:
        parsed = x509.load_pem_x509_certificate(certificate)
        key = parsed.public_key()
        signature = base64.b64decode(str(fields.get("Signature", "")), validate=True)
    except (ValueError, binascii.Error) as error:
        raise NotSigned("Its certificate or its signature cannot be read.") from error
    if not parsed.not_valid_before_utc <= now <= parsed.not_valid_after_utc:
        raise NotSigned("Its certificate is not currently valid.")
    if not isinstance(key, rsa.RSAPublicKey):
        raise NotSigned("Its certificate has no RSA key.")
    try:
        key.verify(signature, signed_text(fields), padding.PKCS1v15(), algorithm)
    except InvalidSignature as error:
        raise NotSigned("Its signature does not match the certificate.") from error


# Accept messages of a topic only if the service signed them, for our own topic.

# The service's address for its certificates.
_AMAZON = re.compile(
    r"sns\.[a-z]{2}(-[a-z]{3,12}){1,2}-[0-9]{1,2}\.amazonaws\.com(\.cn)?"
    r"/SimpleNotificationService-[0-9a-f]{16,64}\.pem"
)
LONGEST_CERTIFICATE = 20_000


def check(envelope: Envelope) -> None:
    """Refuse a message that is not signed, or not of our topic.

    If GENIE_MTURK_TOPIC is an address, another Genie site posts there itself: there is
    no topic and no signature, only the secret in our address.

    Raises
    ------
    NotSigned
        The message was not signed by the service for our topic.
    GenieError
        ``certificate-unreachable``: it cannot be checked now.
    """
    our_topic = settings.GENIE["PLATFORMS"].get("mturk", {}).get("topic", "")
    if our_topic.startswith("https://"):
        return
    if not envelope.fields.get("Signature"):
        raise NotSigned("It is not signed.")
    address = str(envelope.fields.get("SigningCertURL", ""))
    try:
        certificate = _certificate(address, _is_trusted(address))
    except outbound.Refused as error:
        raise NotSigned(f"Its certificate: {error.message}") from error
    except (OSError, http.client.HTTPException) as error:
        raise GenieError(
            f"Its certificate could not be downloaded: {error}"[:300],
            code="certificate-unreachable",
            permanent=False,
        ) from error
    verify(envelope.fields, certificate, timezone.now())
    # Only now: before the signature was checked, anyone could have written this.
    if not our_topic or envelope.topic != our_topic:
        raise NotSigned("It is signed for a topic that is not GENIE_MTURK_TOPIC.")


def _is_trusted(address: str) -> bool:
    """Check a certificate's address; return whether the operator named it.

    Such a host may be inside the site's own network.
    """
    parts = outbound.check_address(address, https_only=True)
    plain = not parts.query and not parts.fragment
    if plain and parts.netloc in settings.GENIE["SNS_CERTIFICATE_HOSTS"]:
        return True
    if not plain or not _AMAZON.fullmatch(f"{parts.netloc}{parts.path}"):
        raise NotSigned("Its certificate is not at an address of SNS.")
    return False


@lru_cache(maxsize=16)
def _certificate(address: str, private: bool) -> bytes:
    """Fetch a certificate once; a new one has a new address."""
    answer = outbound.get(
        address, https_only=True, allow_private=private, at_most=LONGEST_CERTIFICATE
    )
    if answer.status != 200:
        raise OSError(f"it was answered with {answer.status}")
    return answer.text.encode()


# The maximal difference between a notice's time and ours; an older one may be a replay.
TOLERANCE_SECONDS = 300


def signature(secret: str, timestamp: str, body: bytes) -> str:
    mac = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256)
    return base64.b64encode(mac.digest()).decode()


def read(secret: str, *, body: bytes, timestamp: str, signed: str, now: float) -> str:
    """Return the id of a notice's study or submission, or refuse it.

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
        return str(json.loads(body)["resource_id"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise GenieError("The notice is empty.", code="unreadable") from None


def is_too_long(request: HttpRequest, largest_bytes: int) -> bool:
    """Check the request's declared length; no more than that is ever read."""
    length = request.headers.get("Content-Length") or "0"
    return not (length.isascii() and length.isdecimal()) or int(length) > largest_bytes


# The longest message that a topic passes on, and its envelope.
_LARGEST_OF_A_TOPIC = 320 << 10
_STATUS_OF_A_TOPIC = {"not-signed": 403, "certificate-unreachable": 503}
logger = logging.getLogger(__name__)


@csrf_exempt
@require_POST
def receive_mturk(request: HttpRequest, secret: str) -> HttpResponse:
    """Queue a look at the HITs of a notice, once; confirm our own topic's subscription."""
    expected = settings.GENIE["MTURK_NOTICE_SECRET"]
    if not expected or not constant_time_compare(secret, expected):
        raise Http404
    if is_too_long(request, _LARGEST_OF_A_TOPIC):
        return JsonResponse({"error": "The notice is too long."}, status=413)
    try:
        envelope = open_envelope(request.body)
        check(envelope)
        _follow(envelope)
    except GenieError as error:
        logger.warning("A notice was refused: %s", one_line(error.message))
        status = _STATUS_OF_A_TOPIC.get(error.code, 400)
        return JsonResponse({"error": error.message}, status=status)
    return HttpResponse(status=204)


def _follow(envelope: Envelope) -> None:
    if envelope.kind == "SubscriptionConfirmation":
        subscriptions.agree(envelope.topic, envelope.subscribe_url)
    elif envelope.kind == "Notification":
        notices.follow_hits("mturk", envelope.event_id, hits_in(envelope.message))


_LARGEST_OF_PROLIFIC = 64 << 10
_STATUS_OF_PROLIFIC = {"not-signed": 401, "too-old": 401}


@csrf_exempt
@require_POST
def receive_prolific(request: HttpRequest) -> HttpResponse:
    """Take a notice; its content is not trusted, the API is asked for the state."""
    if is_too_long(request, _LARGEST_OF_PROLIFIC):
        return JsonResponse({"error": "The notice is too long."}, status=413)
    try:
        resource_id = read(
            settings.GENIE["PROLIFIC_WEBHOOK_SECRET"],
            body=request.body,
            timestamp=request.headers.get("X-Prolific-Request-Timestamp", ""),
            signed=request.headers.get("X-Prolific-Request-Signature", ""),
            now=time.time(),
        )
    except GenieError as error:
        return JsonResponse(
            {"error": error.message}, status=_STATUS_OF_PROLIFIC.get(error.code, 400)
        )
    event_id = request.headers.get("X-Event-Id", "")
    notices.follow("prolific", event_id, resource_id)
    return HttpResponse(status=204)


app_name = "hooks"
urlpatterns = [
    path("prolific/", receive_prolific, name="prolific"),
    path("mturk/<str:secret>/", receive_mturk, name="mturk"),
]
