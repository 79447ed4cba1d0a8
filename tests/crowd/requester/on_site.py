"""A worker who does requesters' HITs through the worker site's own pages."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.urls import reverse

from crowd.models import RequesterAssignment, RequesterHIT
from crowd.workers.services.invitations import register_worker
from tests.factories import make_user


class OnSite:
    """Signed in as a worker; posts from a frame carry no cookie, as in a browser."""

    def __init__(self, name="wanda"):
        self.user = make_user(name)
        self.worker = register_worker(platform_worker_id=name, user=self.user)
        self.client = Client()
        self.client.force_login(self.user)

    def get(self, name, *args):
        return self.client.get(reverse(f"work:{name}", args=args))

    def accept(self, hit_id):
        hit = RequesterHIT.objects.select_related("hit_type").get(entity_id=hit_id)
        address = reverse("work:accept", args=[hit.hit_type.group_id])
        answer = self.client.post(address, {"hit": hit_id})
        if "/turn/" not in answer["Location"]:
            return None
        entity_id = answer["Location"].rstrip("/").split("/")[-1]
        return RequesterAssignment.objects.get(entity_id=entity_id)

    def frame(self, page):
        (found,) = re.findall(r'<iframe[^>]* src="([^"]+)"', page.text)
        address = unescape(found)
        query = parse_qs(urlsplit(address).query)
        return address, {name: values[0] for name, values in query.items()}

    def do(self, hit_id, **fields):
        """Accept a HIT and send its page's form in; give the assignment's id."""
        turn = self.accept(hit_id)
        assert turn is not None
        _, known = self.frame(self.get("turn", turn.entity_id))
        answer = send(known["turkSubmitTo"], assignmentId=turn.entity_id, **fields)
        assert answer.status_code == 200, answer.text
        return turn.entity_id


def send(submit_to, **fields):
    """Post a form as a page of an opaque origin does: without cookies."""
    path = urlsplit(submit_to).path
    return Client(headers={"origin": "null"}, enforce_csrf_checks=True).post(
        f"{path}/mturk/externalSubmit", fields
    )
