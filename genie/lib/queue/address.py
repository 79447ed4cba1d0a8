"""The queue's place: the database, or a queue that speaks SQS."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from genie.lib.env import ConfigurationError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


def queue_options(address: str) -> dict[str, Any]:
    """Return django-q2's settings of the queue at an address.

    Parameters
    ----------
    address : str
        Empty: rows of the database. ``sqs://name?region=...``: the queue of that name;
        keys and endpoint come from AWS's own variables or the machine's role.
        Other kinds raise ConfigurationError.
    """
    if not address:
        return {
            "name": "now",
            "ALT_CLUSTERS": {"money": {}, "long": {}},
            "orm": "default",
            "broker_class": "genie.lib.queue.broker.DatabaseBroker",
        }
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    region = query.pop("region", "")
    if (
        parts.scheme != "sqs"
        or not _NAME.fullmatch(parts.netloc)
        or parts.path.strip("/")
        or query
        or not region
    ):
        raise ConfigurationError(
            "GENIE_QUEUE must be empty or sqs://name?region=...; keys and endpoint "
            "belong in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
            "AWS_ENDPOINT_URL_SQS."
        )
    return {
        "name": parts.netloc,
        "sqs": {"aws_region": region},
        "broker_class": "genie.lib.queue.sqs.SqsBroker",
    }
