"""A board as a picture, in a frame, as a feed, for machines: what visitors see, and no more."""

import re
import struct
from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from lxml import etree, html

from genie.lib.moment import stamp
from genie.lib.serving.caches import computed as cache
from leaderboard.models import HumanEvaluation, Score, Submission
from leaderboard.sharing.charts import as_png
from tests.factories import (
    make_many_ranked,
    make_ranked,
    make_submission,
    make_task,
)

BOARD = "/tasks/tidy-news/"
SITE = "https://genie.example"
ATOM = {"a": "http://www.w3.org/2005/Atom"}
MAP = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
# a name that would end an attribute, a text, a document, and turn a line around
HOSTILE = 'Kite"><script>alert(1)</script>&\x07\N{RIGHT-TO-LEFT OVERRIDE}'


@pytest.fixture(autouse=True)
def _site(settings):
    settings.GENIE = {**settings.GENIE, "SITE_URL": SITE}


@pytest.fixture
def board(task, who, team):
    """Make a board with everything on it that strangers may not read."""
    team.name = "Heron Group"
    team.save()
    make_ranked(task, 80, system=HOSTILE, **who)
    make_ranked(task, 70, system="Egret", simulated=True, **who)
    make_ranked(task, 60, system="Masked", anonymous_until=date(2999, 1, 1), **who)
    make_ranked(task, 99, system="Secret", visibility="PRIVATE", **who)
    make_submission(task, system="Waiting", **who)
    gone = make_ranked(task, 98, system="Gone", **who)
    Submission.objects.filter(pk=gone.pk).update(own_state="WITHDRAWN")
    return task


def words(answer):
    assert answer.status_code == 200
    return " ".join(etree.fromstring(answer.content).itertext())


SHARED = ["board.svg", "feed.atom"]


@pytest.mark.parametrize("name", SHARED)
def test_what_is_shared_shows_what_visitors_see_whoever_asks(client_of, board, name):
    for one in ("visitor", "submitter", "staff"):
        text = client_of(one).get(BOARD + name).content.decode()
        assert "Egret" in text
        assert "simulated" in text
        for hidden in ("Secret", "Gone", "Heron", "<script>", "\x07", "\u202e"):
            assert hidden not in text


def test_a_long_board_is_cut_and_says_so(client, task, who):
    make_many_ranked(task, 40, **who)
    assert "and 15 more" in words(client.get(f"{BOARD}board.svg"))


def test_an_empty_board_has_a_picture_too(client, task):
    assert "No systems yet" in words(client.get(f"{BOARD}board.svg"))
    assert client.get(f"{BOARD}card.png").status_code == 200


def size(answer):
    assert answer.content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", answer.content[16:24])


@pytest.mark.every_engine
def test_cards_have_the_size_that_chats_show_and_pictures_twice_their_own(
    client, board
):
    assert size(client.get(f"{BOARD}card.png")) == (1200, 630)
    assert size(client.get("/card.png")) == (1200, 630)
    assert size(client.get(f"{BOARD}board.png?theme=dark"))[0] == 1920
    assert client.get(f"{BOARD}board.png?theme=loud").status_code == 404
    assert client.get(f"{BOARD}board.png?at=tomorrow").status_code == 404


def test_letters_are_drawn_without_any_font_of_the_machine():
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><text y="20" font-family="DejaVu Sans,Verdana"{}>{}</text></svg>'
    empty = as_png(sheet.format("", ""), 1)
    for weight in ("", ' font-weight="bold"'):
        for letters in ("Kite", "Ж", "λ", "–", "…"):
            assert as_png(sheet.format(weight, letters), 1) != empty, letters


def test_the_menu_offers_files_and_text_to_copy(client, board):
    board.title = 'News "today" <b>'
    board.save()
    page = html.fromstring(client.get(BOARD).content.decode())
    menu = page.xpath("//details[contains(@class, 'share')]")[0]
    assert menu.xpath(".//iframe") == []
    code = {one.get("data-copy"): one.text_content() for one in menu.xpath(".//code")}
    assert code["the permanent link"].startswith(f"{SITE}{BOARD}at/20")
    names = [link.text for link in menu.xpath(".//a")]
    assert {"LaTeX", "Markdown", "CSV", "JSON", "BibTeX", "SVG", "PNG"} < set(names)
    for link in menu.xpath(".//a"):
        path = link.get("href").removeprefix(SITE)
        # a file without a line says why it is not sent
        sent = {200, 404} if "/metrics/files/" in path else {200}
        assert client.get(path).status_code in sent, path


def rows(client, address):
    page = html.fromstring(client.get(address).content.decode())
    cells = page.xpath("//table[contains(@class, 'board')]/tbody/tr")
    lines = [re.sub(r"\s+", " ", row.text_content()).strip() for row in cells]
    # which says of today what a team has had rated
    return [line.replace(" (best of 2)", "") for line in lines]


def test_a_past_board_says_where_its_ranks_are_computed_again(client, task, who, read):
    made = [make_ranked(task, mean, system=f"S{mean}", **who) for mean in (80, 70, 60)]
    past = timezone.now() - timedelta(hours=1)
    Submission.own.update(published_at=past)
    Score.own.update(created_at=past)
    for place, one in enumerate(made, 1):
        Score.objects.filter(submission=one).update(
            rank_first=place, rank_last=place, cluster=place
        )
    address = f"{BOARD}at/{stamp(timezone.now())}/"
    again = "Ranks are recomputed from these scores alone"
    assert again not in read(client.get(address))
    Submission.objects.filter(pk=made[1].pk).update(own_state="WITHDRAWN")
    cache.clear()
    assert again in read(client.get(address))


def head(client, address):
    page = html.fromstring(client.get(address).content.decode())
    found = {
        one.get("name") or one.get("property"): one.get("content")
        for one in page.xpath("//head/meta[@content]")
    }
    links = {one.get("rel"): one.get("href") for one in page.xpath("//head/link")}
    return {**found, **links}


@pytest.mark.parametrize("shown", ["", "?q=Kite&sort=date", "at/20200101T000000Z/"])
def test_every_view_of_a_board_is_one_page_to_machines(client, board, shown):
    about = head(client, BOARD + shown)
    assert about["canonical"] == about["og:url"] == SITE + BOARD
    assert about["og:image"] == f"{SITE}{BOARD}card.png"
    assert about["alternate"] == f"{SITE}{BOARD}feed.atom"
    assert about["og:title"] == "Tidy news: leaderboard · Genie"
    assert "Tidy news" in about["description"]


def test_a_feed_tells_of_results_leaders_and_final_scores(client, task, who):
    made = [make_ranked(task, mean, system=f"S{mean}", **who) for mean in (60, 80, 70)]
    now = timezone.now()
    for place, one in enumerate(made):
        at = now - timedelta(days=9 - place)
        Submission.objects.filter(pk=one.pk).update(published_at=at)
    HumanEvaluation.objects.filter(pk=made[2].human_evaluation_id).update(final_at=now)
    feed = etree.fromstring(client.get(f"{BOARD}feed.atom").content)
    titles = feed.xpath("//a:entry/a:title/text()", namespaces=ATOM)
    assert titles == [
        "Final: S70 70.0 [68.0, 72.0]",
        "S70 70.0 [68.0, 72.0]",
        "New best score: S80",
        "S80 80.0 [78.0, 82.0]",
        "S60 60.0 [58.0, 62.0]",
    ]
    keys = feed.xpath("//a:entry/a:id/text()", namespaces=ATOM)
    assert len(set(keys)) == len(keys)
    assert all(key.startswith(f"{SITE}/submissions/") for key in keys)
    itself = feed.xpath("a:link[@rel='self']/@href", namespaces=ATOM)
    assert itself == [f"{SITE}{BOARD}feed.atom"]


def test_the_sites_feed_and_list_of_pages_have_what_is_public_of_all_tasks(
    client, board
):
    make_task("empty-handed", title="Empty")
    text = client.get("/feed.atom").content.decode()
    etree.fromstring(text.encode())
    assert "Egret" in text
    assert not any(word in text for word in ("Secret", "Gone", "Heron", "Waiting"))
    sites = etree.fromstring(client.get("/sitemap.xml").content)
    found = set(sites.xpath("//s:loc/text()", namespaces=MAP))
    assert {f"{SITE}/", f"{SITE}{BOARD}", f"{SITE}/tasks/empty-handed/"} < found
    listed = {
        one.system_name
        for one in Submission.own
        if SITE + reverse("leaderboard:submission", args=[one.pk]) in found
    }
    assert listed == {HOSTILE, "Egret", "Masked"}
    for page in found:
        assert client.get(page.removeprefix(SITE)).status_code == 200, page


def test_machines_are_told_where_things_are(client, board):
    robots = client.get("/robots.txt").content.decode()
    assert "Disallow: /account/" in robots
    assert "Disallow: /tasks" not in robots
    assert f"Sitemap: {SITE}/sitemap.xml" in robots
