from crowd.requester.models import Requester
from crowd.requester.protocol import clock
from crowd.requester.services import deliver as delivery
from crowd.requester.services.settle import settle


def settle_all() -> None:
    now = clock.now()
    for requester in Requester.objects.order_by("pk"):
        settle(requester, now)


def deliver(pk: int) -> None:
    delivery.deliver(pk)
