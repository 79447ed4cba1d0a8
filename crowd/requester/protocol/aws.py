"""Send messages to Amazon's queues and topics, or to compatible ones.

Credentials and endpoints come from the environment, as boto3 reads them. boto3 is
imported late, because importing it is slow and few sites need it.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from genie.lib.errors import GenieError

_QUEUE = re.compile(
    r"https://(sqs\.[a-z0-9-]+|([a-z0-9-]+\.)?queue)\.amazonaws\.com(\.cn)?"
    r"/[0-9]{12}/[A-Za-z0-9_-]{1,80}"
)
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_REGION = re.compile(r"^https://sqs\.([a-z0-9-]+)\.amazonaws\.com/")


@cache
def published_model() -> Any:
    """Return botocore's model of Mechanical Turk: operations with their parameters."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")


def send_to_queue(address: str, text: str) -> None:
    _queues(address).send_message(QueueUrl=address, MessageBody=text)


def send_to_topic(arn: str, text: str) -> None:
    _topics(arn).publish(TopicArn=arn, Message=text)


def check_queue(address: str) -> None:
    """Refuse an invalid queue address, or one of a queue that does not exist.

    A queue that we may not look up may still take messages, so it is accepted.

    Raises
    ------
    GenieError
        ``no-such-target``, with the problem.
    """
    if not address.startswith(("https://", "http://")):
        raise _none("Give the queue's URL.")

    def ask() -> object:
        client = _queues(address)
        if not _QUEUE.fullmatch(address) and not address.startswith(
            f"{client.meta.endpoint_url.rstrip('/')}/"
        ):
            raise _none("Give the URL of a standard (not FIFO) queue at Amazon.")
        return client.get_queue_attributes(
            QueueUrl=address, AttributeNames=["QueueArn"]
        )

    _ask(ask, "queue")


def check_topic(arn: str) -> None:
    """Refuse an invalid topic ARN, or one of a missing topic; see `check_queue`."""
    if not _TOPIC.fullmatch(arn):
        raise _none("Give the topic's ARN, or an https address.")
    _ask(lambda: _topics(arn).get_topic_attributes(TopicArn=arn), "topic")


def _ask(question: Callable[[], object], what: str) -> None:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        question()
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if "NonExistent" in code or "DoesNotExist" in code or "NotFound" in code:
            raise _none(f"There is no such {what}.") from None
    except BotoCoreError as error:
        raise _none(f"This server cannot reach that {what}: {error}") from None


def _none(sentence: str) -> GenieError:
    return GenieError(sentence, code="no-such-target")


def _queues(address: str) -> Any:
    match = _REGION.match(address)
    region = match[1] if match else None
    return _client("sqs", region)


def _topics(arn: str) -> Any:
    return _client("sns", arn.split(":")[3])


def _client(service: Literal["sqs", "sns"], region: str | None) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(
        service,
        region_name=region,
        config=Config(
            connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1}
        ),
    )
