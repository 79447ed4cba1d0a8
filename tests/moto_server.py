"""A server that speaks S3, SQS and SNS on loopback, for tests that need one."""

from contextlib import contextmanager
from functools import cache

import boto3
from botocore import session
from moto.server import ThreadedMotoServer

# Each test makes clients, and each of these would read Amazon's models anew.
session.create_loader = cache(session.create_loader)

# What boto3 needs to sign with; the server takes anything.
KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def moto_server():
    """Run the server and give its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(service, address):
    """Give a boto3 client of that server."""
    return boto3.client(
        service,
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
