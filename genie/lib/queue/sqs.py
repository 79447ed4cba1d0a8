"""Jobs in an SQS queue; apart from the database's, as boto3 takes long to import.

The queue hands an unfinished job out again by itself, after ``Conf.RETRY`` seconds.
"""

from __future__ import annotations

from django_q.brokers.aws_sqs import Sqs

from genie.lib.queue.broker import BeatingBroker


class SqsBroker(BeatingBroker, Sqs):  # type: ignore[misc]  # django-q2 has no types
    """Jobs in an SQS queue, with beats."""
