"""The documentation on the site: all pages, their links, search and tasks."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.site.docs import contents, search
from leaderboard.site.docs.markdown import render

pytestmark = pytest.mark.django_db
TASKS = [f"/docs/tasks/{slug}/" for slug in search.shipped_names()]
ADDRESSES = [
    "/docs/",
    *(f"/docs/{slug}/" for slug in contents.slugs()),
    "/docs/tasks/",
    *TASKS,
]


class Links(HTMLParser):
    """What a page leads to, and where one may land on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.anchors.append(values["id"])
        if tag in ("a", "img", "link"):
            self.targets += filter(None, [values.get("href"), values.get("src")])


@pytest.fixture(scope="module")
def read():
    known: dict[str, tuple[int, Links]] = {}

    def read_(address):
        if address not in known:
            answer = Client().get(address)
            is_page = answer.headers["Content-Type"].startswith("text/html")
            known[address] = answer.status_code, Links(answer.text if is_page else "")
        return known[address]

    return read_


def test_every_file_is_a_page_for_somebody():
    files = {path.stem for path in contents.FOLDER.glob("*.md")}
    assert files | {"example-extension"} == set(contents.slugs())
    assert len(contents.slugs()) == len(set(contents.slugs()))


@pytest.mark.parametrize("address", ADDRESSES)
def test_links_and_anchors_lead_somewhere(read, address):
    status, page = read(address)
    assert status == 200
    assert len(page.anchors) == len(set(page.anchors)), "two things of one name"
    for target in page.targets:
        url = urlsplit(urljoin(address, target))
        if url.netloc or url.path.startswith("/static/"):
            continue
        there, landing = read(url.path)
        assert there in (200, 302), f"{address} leads to {target}"
        if url.fragment and there == 200:
            assert unquote(url.fragment) in landing.anchors, f"{address} → {target}"


def test_pages_follow_each_other():
    first, *_, last = contents.slugs()
    assert contents.neighbours(first) == (None, contents.slugs()[1])
    assert contents.neighbours(last)[1] is None


def test_comments_are_left_out_and_tables_scroll():
    shown = render("# T\n\n<!-- hidden -->\n\n| a |\n|---|\n| b |\n", link=str)
    assert "hidden" not in shown.html
    assert 'class="scroll" tabindex="0"' in shown.html
    assert '<th scope="col">' in shown.html


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("misaligned-ids", "formats#pre-flight-warnings"),
        ("idempotency key", "api#retry-safely"),
        ("webhook", "api#webhooks"),
        ("cluster", "glossary#term-cluster"),
        (
            "how to quote a score",
            "reading-a-board#the-past-and-how-to-cite-or-quote-a-board",
        ),
        ("αNLG", "tasks/anlg#"),
    ],
)
def test_the_search_finds_the_section_that_is_wanted(query, found):
    hits = search.search(query)[:3]
    assert found in [f"{hit.slug}#{hit.anchor}" for hit in hits]
    assert all(Client().get(hit.address).status_code == 200 for hit in hits)


def test_the_right_page_comes_first_for_25_of_30_questions_of_readers():
    lines = Path(__file__).with_name("questions.txt").read_text("utf-8").splitlines()
    asked = [line.split(" | ") for line in lines]
    missed = [q for q, right in asked if search.search(q)[0].slug not in right.split()]
    assert (len(asked), len(missed[5:])) == (30, 0), missed


def test_a_search_marks_what_it_found_and_shows_the_rest_as_text(client):
    page = client.get("/docs/search/", {"q": "<script>alert(1)</script> webhooks"})
    assert "<mark>" in page.text
    assert "<script>alert" not in page.text
    nothing = client.get("/docs/search/", {"q": "xyzzyx"}).text
    assert "No page contains “xyzzyx”" in nothing
    assert client.get("/docs/search/").status_code == 200


def test_pictures_and_examples_are_served_and_nothing_else(client):
    picture = client.get("/docs/files/pictures/wings.svg")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    example = client.get("/docs/files/deploy/Caddyfile")
    assert example.headers["Content-Type"].startswith("text/plain")
    for name in ("../settings.py", "api.md", "example-extension/pyproject.toml"):
        assert client.get(f"/docs/files/{name}").status_code == 404
    assert client.get("/docs/nowhere/").status_code == 404


@pytest.mark.parametrize("slug", search.shipped_names())
def test_a_task_says_where_its_texts_come_from(client, slug):
    shown = search.shipped_task(slug)
    page = client.get(reverse("leaderboard:docs-task", args=[slug])).text
    assert shown.config.citation.split("\n", 1)[0] in page
    assert f"genie load-task {slug}" in page
    # what does not come along says how to get it
    assert shown.brings_texts != bool(shown.steps)
    assert ("--source" in shown.command) is not shown.brings_texts
