"""A study among colleagues: the links, and no word of paid work from file to report."""

import io
import os
import re
from html import unescape
from zipfile import ZipFile

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from lxml import html

from crowd.models import Worker
from crowd.workers.services import invitations
from genie.lib import jobs
from leaderboard.evaluation.run import advance
from leaderboard.models import Draft
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.drafts.ask import offered_designs
from tests.cast import allow
from tests.crowd.making import make_campaign
from tests.each import with_slow
from tests.factories import make_user
from tests.http_worker import answers_on
from tests.leaderboard.studio.test_new import SHORT, csv_of
from tests.leaderboard.studio.test_pages import asked, at, begin, text

OF_PAID_WORK = r"(?<!\\uparrow)\$(?!\\uparrow)|\bHITs?\b|(?i:campaign|budget|polarity|assignment|earnings)"
# scripts, and the values of attributes that no one reads
NOT_READ = re.compile(
    r"(?s)<script.*?</script>|<!--.*?-->"
    r"|\s(?:href|src|action|class|id|for|name|form)=\"[^\"]*\""
)
OF_STUDY = re.compile(
    r"/studio/(?:new|\d+|tasks/my-answers)/|/tasks/my-answers/|/submissions/\d|/comparisons/\d"
    r"|/work/|/joint-evaluations/\d"
)
SAID = {
    "human": ("the same 4 instances", "2 ratings per output", "Holm"),
    "comparison": ("two workers per pair", "probability of a wrong decision"),
    "joint": ("the same 4 instances", "2 raters per instance", "Agreement"),
}
SELDOM = offered_designs().keys() - {"direct-assessment", "two-choice", "rankme"}
ITEMS = "//article[@class='item']"
# pictures, and pages of the site that change something or repeat a page
NOT_FOLLOWED = re.compile(
    r"\.png|\.zip|\?(?!pool=)|/tests/$|/pilot/$|/withdraw/|/hand-in/|/file/"
)


def found_in(page):
    return re.findall(rf".{{0,40}}(?:{OF_PAID_WORK}).{{0,40}}", unescape(NOT_READ.sub("", page)))  # fmt: skip


def walked(client, *starts):
    """Follow the links of the study, and return the words of paid work by address."""
    found, waiting, seen = {}, list(starts), set()
    while waiting:
        path = waiting.pop().partition("#")[0]
        if path in seen or not OF_STUDY.match(path) or NOT_FOLLOWED.search(path):
            continue
        seen.add(path)
        answer = client.get(path, follow=True)
        page = answer.getvalue().decode(errors="replace")
        # a file without a line says why it is not sent
        empty = b"has no results" in answer.getvalue() and "/metrics/files/" in path
        assert empty or answer.status_code == 200, path
        found |= {path: words} if (words := found_in(page)) else {}
        waiting += map(unescape, re.findall(r'(?:href|src)="(/[^"]*)"', page))
    return found


@pytest.fixture
def draft(mia):
    return loaded(mia)


def loaded(mia, **changes):
    begin(mia, {"a.csv": csv_of({**SHORT, "reference": SHORT["ada"]})}, who="link")
    draft = Draft.objects.get()
    assert walked(mia, at(draft, "files"), at(draft, "ask")) == {}
    mia.post(at(draft, "files"), {"on": ""})
    mia.post(at(draft, "ask"), asked(on="", **changes))
    data = {"who": "link", "ratings": "2", "items_per_page": "2", "on": ""}
    assert mia.post(at(draft, "people"), data)["Location"] == at(draft, "start")
    assert walked(mia, at(draft, "people"), at(draft, "start")) == {}
    assert [mia.get(at(draft, page)).status_code for page in ("tests", "page")] == [
        200
    ] * 2
    mia.post(at(draft, "start"), {"load": ""})
    jobs.drain()
    draft.refresh_from_db()
    return draft


def started(mia, draft, **link):
    data = {"shown_cents": "0", "agreed": "on"}
    mia.post(at(draft, "start"), {"approve": "", **data}, follow=True)
    for _ in range(3):
        advance()
        jobs.drain()
    mia.post(at(draft, "start"), {"link": "", "places": "5", "days": "7", **link})
    page = text(mia.get(at(draft, "start")))
    return re.findall(r'value="http://testserver(/work/invitation/[^"]+)"', page)


def rated(client, address):
    """Answer page after page without words of paid work; return the last one."""
    while items := (page := html.fromstring(client.get(address).text)).xpath(ITEMS):
        assert walked(client, address) == {}
        sent = {"hits": page.xpath("string(//input[@name='hits']/@value)")}
        for item in items:
            sent |= answers_on(item, lambda _, text: 0.9 if "good" in text else 0.2)
        answer = client.post(address, sent)
        assert answer.status_code == 302, re.findall(
            r"role=.alert.*?</", answer.text, re.DOTALL
        )
        address = answer["Location"]
    return html.tostring(page, encoding="unicode")


def words_of(page):
    page = re.sub(r"(?s)<(script|style|template|details|title)\b.*?</\1>", " ", page)
    page = re.sub(r'(?s)<(\w+)[^>]*(?:hidden-visually|class="skip").*?</\1>', " ", page)
    return unescape(re.sub(r"<[^>]+>", " ", page)).split()


@pytest.mark.parametrize("slug", with_slow(offered_designs(), SELDOM))
def test_no_page_file_or_mail_speaks_of_paid_work(mia, maker, slug):
    part = os.environ.get("GENIE_WALK_PART")
    if part and slug in SELDOM and sorted(SELDOM).index(slug) % 4 != int(part) % 4:
        pytest.skip("a commit takes two of these designs, `make test-slow` all")
    allow(maker, Staff.SEE_REFERENCES, Staff.SEE_CAMPAIGNS)
    second = {"name_2": "fluent", "question_2": "How fluent is it?"}
    way = offered_designs()[slug]
    draft = loaded(mia, design=slug, allow_tie="on", **second)
    board = reverse("leaderboard:board", args=["my-answers"])
    everything = [at(draft, "start"), board, reverse("leaderboard:studio-task", args=["my-answers"])]  # fmt: skip
    assert walked(mia, *everything) == {}
    links = started(mia, draft, names="Ann\nBen")
    assert len(links) == 2
    assert walked(mia, *everything) == {}
    for link in links:
        client = Client()
        assert walked(client, link) == {}
        end = rated(client, client.post(link)["Location"])
        assert found_in(end) == []
        assert "There is no more of this work for you" in end
    for _ in range(3):
        advance()
        jobs.drain()
    asks = draft.task.config[way.table()]
    assert (asks["design"], len(asks["criteria"])) == (slug, 1 + (slug != "mqm"))
    assert asks.get("setup", 1) == 1 + (way.table() == "comparison" or asks["scale"] == "magnitude")  # fmt: skip
    rows = draft.task.human_evaluations.exclude(campaigns=None).distinct()
    assert {one.state for one in rows} <= {"SCORED", "DECIDED", "UNDECIDED"}
    assert re.search(r"ada.*(<b>\d+\.\d</b>|\d%)", text(mia.get(board)), re.DOTALL)
    progress = reverse("admin:leaderboard_task_campaigns", args=[draft.task.pk])
    assert re.findall(r"Waiting|Ratings an hour", text(mia.get(progress))) == [
        "Ratings an hour"
    ]
    assert walked(mia, *everything) == {}
    assert not any(found_in(one.subject + one.body) for one in mail.outbox)
    address = reverse("admin:leaderboard_task_report", args=[draft.task.pk])
    assert found_in(mia.get(address).text) == []
    files = ZipFile(io.BytesIO(mia.post(address).getvalue()))
    texts = {
        name.partition("/")[2]: files.read(name).decode() for name in files.namelist()
    }
    assert {name: found_in(one) for name, one in texts.items() if found_in(one)} == {}
    pairs = way.table() == "comparison"
    rows = texts["judgments.csv"].splitlines()
    who = "system a,system b" if pairs else "system"
    assert rows[0] == f"{who},item,rater,{','.join(asks['criteria'])}"
    assert len(rows) == 1 + 4 * 2 * (2 - pairs)
    table = texts["table.tex"]
    assert table.count(r"\toprule") == (
        len(asks["criteria"]) if way.table() != "human" else 1
    )
    assert re.search(r"ada.* & .*\d\.\d", table)
    methods = texts["methods.txt"]
    for words in ("2 unpaid raters", "Raters excluded: none", "Results are about these raters", *SAID[way.table()]):  # fmt: skip
        assert words in methods
    assert "<circle" in texts["figure.svg"]
    assert "not paid" in texts["ethics.md"]


def test_the_first_item_is_one_click_and_150_words_away(mia, draft):
    [link] = started(mia, draft, places="3")
    rater = Client()
    first = rater.get(link).text
    item = rater.post(link, {"name": "Ann"}, follow=True)
    before, _, rest = item.text.partition('<article class="item"')
    assert 'name="answer-0-0"' in rest
    assert len(words_of(first) + words_of(before)) <= 150


def test_a_link_works_signed_in_or_out_in_any_browser_and_for_any_study(mia, draft):
    ann, ben = started(mia, draft, names="Ann, Ben")
    nina = make_user("nina")
    make_campaign(3, pool="talks")
    invitations.invite_raters(nina, [""], pool="talks", places=2)
    [(_row, token)] = invitations.study_links("talks")
    talks = reverse("work:invitation", args=[token])
    home, away = Client(), Client()
    away.force_login(nina)
    first = home.post(ann)["Location"]
    other = home.post(talks, {"name": "Ann"})["Location"]
    # in another browser, and signed in: the same page waits
    assert away.post(ann)["Location"] == first
    assert away.post(talks, {"name": "ann"})["Location"] == other
    for client, page in ((home, first), (away, other), (away, first)):
        assert client.get(page).status_code == 200
    assert 'value="Ann"' in home.get(talks).text
    # another person, another page; and no place for a third one
    assert Client().post(ben)["Location"] != first
    assert Client().post(talks)["Location"] != other
    assert Client().post(talks, {"name": "Cleo"}).status_code == 410
    names = Worker.own.filter(user=None).values_list("platform_worker_id", flat=True)
    assert sorted(name.partition(":")[2] for name in names) == ["Ann", "Ann", "Ben", "rater 2"]  # fmt: skip
    # returned, and gone on with later
    pk = re.search(r"\d+", first)[0]
    page = home.post(reverse("work:return", args=[pk]), follow=True).text
    assert "Continue" in page
    assert home.get(first, follow=True).status_code == 200
    late = home.post(first, {}, headers={"accept": "application/json"})
    assert (late.status_code, late.json()["error"]) == (
        409,
        "Your answer was not stored",
    )
    assert "HIT" not in page + home.get(first, follow=True).text


def test_links_are_shown_again_with_an_address_for_the_network(mia, draft, settings, monkeypatch):  # fmt: skip
    links = started(mia, draft, names="3")
    assert len(links) == 3
    monkeypatch.setattr("leaderboard.studio.views.start.network_host", lambda: "192.0.2.7")  # fmt: skip
    page = text(mia.get(at(draft, "start"), headers={"host": "127.0.0.1:8000"}))
    assert "127.0.0.1:8000 works only on this computer" in page
    assert "http://192.0.2.7" in page
    assert links[0] in page
    settings.ALLOWED_HOSTS = ["192.0.2.7"]
    page = text(mia.get(at(draft, "start"), headers={"host": "192.0.2.7:8000"}))
    assert f"http://192.0.2.7:8000{links[0]}" in page
    assert "works only on this computer" not in page
