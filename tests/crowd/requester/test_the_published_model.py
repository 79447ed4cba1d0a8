from crowd.requester import operations
from crowd.requester.protocol.aws import published_model
from crowd.requester.protocol.call import HANDLERS


def test_every_published_operation_has_a_handler():
    assert operations.__all__
    assert len(published_model().operation_names) == 39
    assert set(HANDLERS) == set(published_model().operation_names)
