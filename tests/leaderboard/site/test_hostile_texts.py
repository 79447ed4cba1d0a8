"""Texts are hostile: whatever a page shows of them, it shows as text."""

from html.parser import HTMLParser
from itertools import product

import pytest

from leaderboard.models import Instance, Submission
from tests.cast import CAST
from tests.factories import (
    make_metrics,
    make_predictions,
    make_score,
    make_submission,
    make_task,
    tell,
)

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b style=x>]]>=cmd()"


class Elements(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


@pytest.fixture
def addresses(cast):
    cast.team.name = NASTY
    cast.team.save()
    task = make_task(
        title=NASTY,
        summary=NASTY,
        description=NASTY,
        licence=NASTY,
        citation=NASTY,
        homepage="javascript:alert(3)",
        config={
            "fields": {"source": NASTY},
            "metrics": {"use": ["sacrebleu"], "headline": ["sacrebleu"]},
        },
    )
    task.config["human"]["criteria"] = {"overall": NASTY}
    task.save()
    Instance.objects.filter(task=task).update(
        fields={"source": NASTY}, references=[NASTY]
    )
    both = {"team": cast.team, "owner": cast.submitter}
    shown = make_submission(
        task,
        system=NASTY[:100],
        state=Submission.State.PUBLISHED,
        description=NASTY,
        links=["javascript:alert(4)", 'https://x.example/"onclick=alert(5)', NASTY],
        file_name=NASTY,
        warnings=[{"code": NASTY, "sentence": NASTY, "figures": {NASTY: NASTY}}],
        **both,
    )
    make_predictions(shown, text=NASTY.replace("{", "{{").replace("}", "}}"))
    make_metrics(shown, sacrebleu=3.0)
    shown.metric_results.update(signature=NASTY)
    make_score(shown, 50, covers=NASTY, signature=NASTY)
    tell(shown, "PUBLISHED", NASTY)
    broken = make_submission(
        task,
        system=NASTY[:100],
        state=Submission.State.INVALID,
        failure=NASTY,
        errors=[
            {
                "code": NASTY,
                "message": NASTY,
                "count": 1,
                "examples": [{"id": NASTY, "items": NASTY}, NASTY],
            }
        ],
        **both,
    )
    return [
        "/",
        "/tasks/",
        f"/tasks/{task.slug}/",
        f"/tasks/{task.slug}/methods/",
        f"/tasks/{task.slug}/submit/",
        f"/submissions/{shown.pk}/",
        f"/submissions/{shown.pk}/withdraw/",
        f"/submissions/{broken.pk}/",
        "/submissions/",
    ]


def test_no_text_becomes_an_element_an_attribute_or_a_link(client_of, addresses):
    clients = [client_of(name) for name in CAST]
    for client, address in product(clients, addresses):
        html = client.get(address).content.decode()
        page = Elements(html)
        ours = [value for name, value in page.attributes if name == "src"]
        assert all(value.startswith("/static/") for value in ours), address
        assert page.tags.count("script") == len(ours), address
        assert "img" not in page.tags, address
        for attribute, value in page.attributes:
            assert not attribute.startswith("on"), (address, attribute)
            assert attribute != "style", (address, value)
            if attribute in {"href", "src", "action"}:
                assert not (value or "").startswith("javascript:"), address


@pytest.mark.every_engine
def test_the_texts_are_there_as_they_were_sent(client_of, addresses):
    html = client_of("submitter").get(addresses[5]).content.decode()

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "]]&gt;=cmd()" in html


def test_addresses_are_not_echoed(client, task):
    for query in ("?sort=<script>", "?page=<script>", "?columns=%22>"):
        assert "<script>" not in client.get(f"/tasks/tidy-news/{query}").text


def test_no_page_has_an_inline_style_or_script(client_of, addresses):
    client = client_of("superuser")
    for address in [*addresses, "/how-it-works/", "/no-such-page/"]:
        response = client.get(address)
        page = Elements(response.content.decode())
        assert "style" not in page.tags
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "unsafe" not in response.headers["Content-Security-Policy"]
