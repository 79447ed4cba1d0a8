"""Put a message into somebody's queue or topic at Amazon, or at what speaks like it.

Credentials and endpoints come from the environment, as boto3 reads them.
"""

from __future__ import annotations

import re

import boto3
from botocore.config import Config

_REGION = re.compile(r"^https://sqs\.([a-z0-9-]+)\.amazonaws\.com/")
_CONFIG = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1})


def send_to_queue(address: str, text: str) -> None:
    """Send a message to an SQS queue."""
    found = _REGION.match(address)
    region = found[1] if found else None
    client = boto3.client("sqs", region_name=region, config=_CONFIG)
    client.send_message(QueueUrl=address, MessageBody=text)


def send_to_topic(arn: str, text: str) -> None:
    """Publish a message on an SNS topic."""
    region = arn.split(":")[3] if arn.count(":") >= 5 else None
    client = boto3.client("sns", region_name=region or None, config=_CONFIG)
    client.publish(TopicArn=arn, Message=text)
