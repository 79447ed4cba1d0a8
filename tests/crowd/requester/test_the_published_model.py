import boto3
import pytest

from crowd.requester import operations
from crowd.requester.protocol.call import HANDLERS
from crowd.requester.protocol.shapes import OPERATIONS

MODEL = boto3.client(
    "mturk", region_name="us-east-1", aws_access_key_id="-", aws_secret_access_key="-"
).meta.service_model


def of_model(shape):
    if shape.type_name == "structure":
        return {
            (name, name in shape.required_members): of_model(member)
            for name, member in shape.members.items()
        }
    if shape.type_name == "list":
        return [of_model(shape.member)]
    limits = shape.metadata
    return (
        shape.type_name,
        limits.get("min"),
        limits.get("max"),
        limits.get("pattern"),
        tuple(getattr(shape, "enum", ())),
    )


def of_table(shape):
    if shape.kind == "structure":
        return {
            (name, name in shape.required): of_table(member)
            for name, member in shape.members.items()
        }
    if shape.kind == "list":
        return [of_table(shape.item)]
    pattern = shape.pattern.pattern if shape.pattern else None
    return (shape.kind, shape.low, shape.high, pattern, shape.values)


def test_every_published_operation_has_a_table_and_a_handler():
    assert operations.__all__
    assert len(MODEL.operation_names) == 39
    assert set(OPERATIONS) == set(HANDLERS) == set(MODEL.operation_names)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_the_table_asks_for_what_the_published_model_asks_for(name):
    assert of_table(OPERATIONS[name]) == of_model(
        MODEL.operation_model(name).input_shape
    )
