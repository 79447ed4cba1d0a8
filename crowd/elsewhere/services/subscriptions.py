"""A topic asks whether we want its notices: say yes to our own topic, and no other."""

import re
from urllib.parse import parse_qs, urlsplit

from django.conf import settings

from genie.lib import jobs, outbound
from genie.lib.errors import GenieError

JOB = "crowd.jobs.confirm_subscription"
# Where the service itself asks to be answered.
_HOST = re.compile(
    r"sns\.[a-z]{2}(-[a-z]{3,12}){1,2}-[0-9]{1,2}\.amazonaws\.com(\.cn)?"
)


def agree(topic: str, address: str) -> None:
    """Queue the answer to a topic's question.

    Raises
    ------
    GenieError
        ``not-our-topic`` for another topic than the one that is set up,
        ``bad-address`` for an address that is not the service's.
    """
    our_topic = settings.GENIE["PLATFORMS"].get("mturk", {}).get("topic", "")
    if not our_topic or topic != our_topic:
        raise GenieError("That topic is not GENIE_MTURK_TOPIC.", code="not-our-topic")
    _is_ours(address)
    jobs.enqueue_missing([(JOB, {"address": address})])


def confirm(address: str) -> None:
    """Open the address that a topic gave; anything but a 2xx is a failure."""
    answer = outbound.get(address, https_only=True, allow_private=_is_ours(address))
    if not 200 <= answer.status < 300:
        raise GenieError(
            f"The server answered with status {answer.status}.", code="not-confirmed"
        )


def _is_ours(address: str) -> bool:
    """Check an address; tell whether it is the server that the operator named.

    That one may be inside the site's own network. Of the service's own hosts, only the
    usual port and the one action are taken.
    """
    parts = outbound.checked(address, https_only=True)
    query = parse_qs(parts.query)
    named = urlsplit(settings.GENIE["SNS_ENDPOINT_URL"])
    is_named = bool(named.scheme == "https" and parts.netloc == named.netloc)
    amazon = _HOST.fullmatch(str(parts.hostname)) and parts.port in {None, 443}
    if not (is_named or amazon) or query.get("Action") != ["ConfirmSubscription"]:
        raise outbound.Refused(
            "Subscriptions are confirmed at addresses of SNS and nowhere else."
        )
    return is_named
