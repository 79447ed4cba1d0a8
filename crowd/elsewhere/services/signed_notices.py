"""Accept messages of a topic only if the service signed them, for our own topic."""

import http.client
import re
from functools import lru_cache

from django.conf import settings
from django.utils import timezone

from crowd.platforms.mturk_protocol.notices import Envelope
from crowd.platforms.mturk_protocol.sns_signature import NotSigned, verify
from genie.lib import outbound
from genie.lib.errors import GenieError

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
    parts = outbound.checked(address, https_only=True)
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
        address,
        https_only=True,
        allow_private=private,
        at_most=LONGEST_CERTIFICATE,
    )
    if answer.status != 200:
        raise OSError(f"it was answered with {answer.status}")
    return answer.text.encode()
