from genie.lib import outbound
from genie.lib.errors import GenieError

# Like topics that pass messages on.
HEADERS = {
    "Content-Type": "text/plain; charset=UTF-8",
    "x-amz-sns-message-type": "Notification",
}


def post(address: str, text: str) -> None:
    """Post over https to a public address; any status but 2xx is a failure."""
    answer = outbound.post(
        address, text.encode(), HEADERS, https_only=True, allow_private=False
    )
    if not 200 <= answer.status < 300:
        raise GenieError(
            f"The server answered with status {answer.status}.", code="not-delivered"
        )
