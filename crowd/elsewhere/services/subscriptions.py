import re
from urllib.parse import parse_qs, urlsplit

from django.conf import settings

from genie.lib import jobs, outbound
from genie.lib.errors import GenieError

JOB = "crowd.jobs.confirm_subscription"
# The service's own hosts, which take confirmations.
_HOST = re.compile(
    r"sns\.[a-z]{2}(-[a-z]{3,12}){1,2}-[0-9]{1,2}\.amazonaws\.com(\.cn)?"
)


def agree(topic: str, address: str) -> None:
    """Queue the answer to a topic's subscription request.

    Raises
    ------
    GenieError
        ``not-our-topic`` if it is not the configured topic, ``bad-address`` if the
        address is not the service's.
    """
    our_topic = settings.GENIE["PLATFORMS"].get("mturk", {}).get("topic", "")
    if not our_topic or topic != our_topic:
        raise GenieError("That topic is not GENIE_MTURK_TOPIC.", code="not-our-topic")
    _is_ours(address)
    jobs.enqueue_missing([(JOB, {"address": address})])


def confirm(address: str) -> None:
    """Open the address that a topic sent; any status but 2xx is a failure."""
    answer = outbound.get(address, https_only=True, allow_private=_is_ours(address))
    if not 200 <= answer.status < 300:
        raise GenieError(
            f"The server answered with status {answer.status}.", code="not-confirmed"
        )


def _is_ours(address: str) -> bool:
    """Check an address; return whether it is the server that the operator named.

    That server may be inside the site's own network. Of the service's hosts, only the
    usual port and the one action are accepted.
    """
    parts = outbound.check_address(address, https_only=True)
    query = parse_qs(parts.query)
    named = urlsplit(settings.GENIE["SNS_ENDPOINT_URL"])
    is_named = bool(named.scheme == "https" and parts.netloc == named.netloc)
    amazon = _HOST.fullmatch(str(parts.hostname)) and parts.port in {None, 443}
    if not (is_named or amazon) or query.get("Action") != ["ConfirmSubscription"]:
        raise outbound.Refused("Subscriptions are confirmed only at SNS addresses.")
    return is_named
