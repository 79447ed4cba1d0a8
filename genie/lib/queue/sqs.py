"""Jobs in an SQS queue; a separate module, because importing boto3 is slow.

The queue hands an unfinished job out again unless its claim is extended. Each machine
records its jobs in its folder, and its supervisor extends the claims of all of these.
"""

import hashlib
import logging
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django_q.brokers.aws_sqs import Sqs
from django_q.conf import Conf
from django_q.signals import post_execute_in_worker

from genie.lib.logs import one_line
from genie.lib.queue import pulse
from genie.lib.queue.broker import BeatingBroker, Claims

logger = logging.getLogger(__name__)
# The queue's errors for a job that is done, or was handed out again meanwhile.
_NOT_OURS = ("ReceiptHandle", "NotInflight", "InvalidParameterValue", "NonExistent")


class _Noting(Sqs):  # type: ignore[misc]  # django-q2 has no types
    def dequeue(self) -> Claims | None:
        supervised = pulse.is_supervised()
        limit = _limit() if supervised else Conf.RETRY
        messages = self.queue.receive_messages(
            MaxNumberOfMessages=min(Conf.BULK, 10), VisibilityTimeout=limit
        )
        for message in messages if supervised else ():
            _note(message.receipt_handle).write_text(message.receipt_handle)
        return [(message.receipt_handle, message.body) for message in messages]

    def delete(self, receipt: str) -> None:
        super().delete(receipt)
        _note(receipt).unlink(missing_ok=True)


class SqsBroker(BeatingBroker, _Noting):
    """Jobs in an SQS queue, with beats."""


def hold_taken() -> None:
    """Extend the claims of this machine's jobs while its processes live."""
    for receipt in _receipts():
        _hide(receipt, _limit())


def release_taken() -> int:
    """Release the claims of this machine's dead processes at once; return how many."""
    return sum(put_back(receipt, 0) for receipt in _receipts())


def put_back(receipt: str, seconds: float) -> bool:
    _note(receipt).unlink(missing_ok=True)
    return _hide(receipt, seconds)


def _on_failure(task: dict[str, Any], **_kwargs: Any) -> None:
    receipt = task.get("ack_id")
    if receipt and pulse.is_supervised() and not task.get("success", True):
        put_back(receipt, Conf.RETRY)


post_execute_in_worker.connect(_on_failure, dispatch_uid="genie-sqs")


def _hide(receipt: str, seconds: float) -> bool:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client, address = _queue()
        client.change_message_visibility(
            QueueUrl=address, ReceiptHandle=receipt, VisibilityTimeout=round(seconds)
        )
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if not any(sign in code for sign in _NOT_OURS):
            # temporarily, or not allowed: it is tried again with the next beat
            logger.warning("A job cannot be held: %s", one_line(error))
            return False
        logger.info("A job is no longer held: %s", one_line(error))
        _note(receipt).unlink(missing_ok=True)
        return False
    except BotoCoreError as error:
        logger.warning("The queue is not responding: %s", one_line(error))
        return False
    return True


def _queue() -> tuple[Any, str]:
    return _find_queue(Conf.CLUSTER_NAME, Conf.SQS["aws_region"])


@cache
def _find_queue(name: str, region: str) -> tuple[Any, str]:
    from boto3 import Session
    from botocore.config import Config

    # a supervisor that waits too long is declared dead itself
    brief = Config(connect_timeout=3, read_timeout=5, retries={"max_attempts": 1})
    client = Session(region_name=region).client("sqs", config=brief)
    return client, client.get_queue_url(QueueName=name)["QueueUrl"]


def _limit() -> int:
    seconds: int = settings.GENIE["QUEUE_STALE_SECONDS"]
    return seconds


def _note(receipt: str) -> Path:
    return pulse.folder() / f"taken.{hashlib.sha256(receipt.encode()).hexdigest()}"


def _receipts() -> list[str]:
    receipts = []
    for note in sorted(pulse.folder().glob("taken.*")):
        with suppress(FileNotFoundError):
            receipts.append(note.read_text())
    return [receipt for receipt in receipts if receipt]
