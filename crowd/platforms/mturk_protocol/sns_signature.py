"""Check that SNS signed a message: the signature over its fields."""

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from genie.lib.errors import GenieError

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
