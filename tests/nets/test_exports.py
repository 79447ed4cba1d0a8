"""All files and pages that a board and its submissions give out, for several kinds.

Numbers are compared to six decimals: the last digits differ between machines.
"""

import html
import json
import re
import zipfile
from hashlib import sha256
from io import BytesIO

import pytest
from django.apps import apps

from leaderboard.boards.exports.board import WRITERS as TABLES
from leaderboard.metric_board.models import MetricBoard
from leaderboard.metric_board.views.downloads import WRITERS as SCORES
from leaderboard.releases.exports import WRITERS as CARDS
from tests.each import with_slow
from tests.nets.conftest import FILES, LONG, stored
from tests.nets.frozen import BOARDS, freeze
from tests.nets.releases import columns, rebuilt, unpack
from tests.walk import worlds
from tests.walk.routes import names_rows, paths, routes, rows_of
from tests.walk.variants import VARIANTS

# The board whose exports `make test` reads, too.
OFTEN = {"full"}
# Long files that repeat what others hold: their digests are committed.
BY_DIGEST = re.compile(r"zip$|^judgments\.jsonl|^metric-scores")
REPEATED_CARDS = re.compile(r"^system-card\.(json|tex)")
# Routes that are files or of another test.
NO_PAGE = re.compile(
    r"\.<|/files/|every-eval|png|favicon|schema|status|/history/|/delete/"
    r"|^(account|docs|hooks|login|requester|turk|work|\.well-known)"
)
OURS = {"admin", "crowd", "genie", "leaderboard", "quality"}
HIDDEN = re.compile(r"<(script|style|title)\b.*?</\1>|<!--.*?-->", re.S)
NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
ENDS = re.compile(
    r"</(?:p|li|h\d|tr|d[dt]|div|summary|caption|label|option|legend|pre|svg)>"
)
FIELD = re.compile(r"<(input|select|textarea|option)\b([^>]*)>")
NO_CHOICE = re.compile(r' (?:class|id|aria-\w+|autocomplete|for)="[^"]*"')


@pytest.mark.django_db
@pytest.mark.parametrize("kind", with_slow(BOARDS, set(BOARDS) - OFTEN))
def test_exports_are_as_committed(kind, net, monkeypatch, settings, tmp_path):
    set_day = freeze(monkeypatch, settings, tmp_path)
    who = worlds.accounts()
    worlds.two_choice(who)  # of which no file may hold anything
    task = BOARDS[kind](who)
    for day in (1, 2):  # published scores change once a day
        set_day(day)
        worlds.settle()
    world = worlds.World(kind, task, who)
    found = {name: plain(content) for name, content in exports(world).items()}
    if kind in {"people", "conversations"}:
        found |= report(world, tmp_path)
    digests = ""
    for name in sorted(found):
        if BY_DIGEST.search(name) or (kind != "people" and REPEATED_CARDS.search(name)):
            digests += f"{sha256(found.pop(name).encode()).hexdigest()} {name}\n"
    found["digests.txt"] = digests
    found = {name: text for name, text in found.items() if text}
    MetricBoard.objects.update(seconds=1)
    more = ("submitter", "superuser") if kind in {"people", "full"} else ()
    found["pages.txt"] = pages(world, "visitor", *more)
    if kind in {"people", "full", "preference"}:
        every = [one._meta for one in apps.get_models()]
        ours = [of.model for of in every if of.app_label in OURS and not of.proxy]
        found["rows.txt"] = stored(*ours, times=True)
    for name, text in found.items():
        net(f"{kind}/{name}", text)
    assert {file.name for file in (FILES / kind).iterdir()} == found.keys()


def exports(world) -> dict[str, bytes]:
    board = f"/tasks/{world.task.slug}"
    names = [f"board.{form}" for form in TABLES]
    paths = {name: f"{board}/{name}?columns=all" for name in names}
    names = ("every-eval-ever.json", "board.svg", "feed.atom")
    paths |= {name: f"{board}/{name}" for name in names}
    paths |= {name: f"{board}/metrics/files/{name}" for name in SCORES}
    system = world.task.submissions.order_by("pk")[1].pk
    names = [f"card.{form}" for form in CARDS]
    paths |= {f"system-{name}": f"/submissions/{system}/{name}" for name in names}
    client = world.client("visitor")
    answers = {name: client.get(path) for name, path in paths.items()}
    # files without a line are not sent
    sent = {name: one for name, one in answers.items() if one.status_code != 404}
    assert {answer.status_code for answer in sent.values()} == {200}
    assert answers.keys() - sent.keys() <= {*SCORES, "battles.jsonl", "judgments.jsonl"}
    return {name: answer.getvalue() for name, answer in sent.items()}


def report(world, folder) -> dict[str, str]:
    """Return the texts of the report, and the columns of the release in it."""
    address = f"/admin/leaderboard/task/{world.task.pk}/report/"
    archive = folder / "report.zip"
    archive.write_bytes(world.client("superuser").post(address).getvalue())
    report = unpack(archive, folder / "report")
    assert "numbers match the published ones" in rebuilt(report / "data")
    names = ("methods.txt", "ethics.md", "costs.csv")
    files = [report / name for name in names if (report / name).exists()]
    texts = {file.name: file.read_text("utf-8") for file in files}
    return texts | {"release.txt": columns(report / "data")}


def pages(world, *roles) -> str:
    """Return what each address shows to a visitor, and what others see beside that."""
    rows, seen = rows_of(world), {}
    known = dict(zip("ab", rows["SUBMISSION"], strict=False), slug=world.task.slug)
    for role in roles:
        for route in routes():
            ours = len(roles) > 1 or names_rows(route)
            # tests/nets/test_staff_pages.py compares those of the admin
            if not ours or route.is_admin or NO_PAGE.search(route.text):
                continue
            client = world.client(role)  # a page may end a session
            asked = VARIANTS.get(route.name, ()) if world.kind == "people" else ()
            most = 20 if route.name == "leaderboard:submission" else 1
            for path in paths(route, world, rows)[:most]:
                for query in ["", *(f"?{one}" for one in asked if "lang" not in one)]:
                    answer = client.get(f"{path}{query}".format(**known))
                    content = answer.getvalue()
                    if content.startswith((b"PK", b"\x89PNG")):
                        continue
                    lines = [str(answer.status_code), *words(content.decode())]
                    old = {
                        line for text in seen.get(path, {}).values() for line in text
                    }
                    if new := [line for line in lines if line not in old]:
                        seen.setdefault(path, {})[f"{role} {path}{query}"] = new
    found = [(name, text) for by in seen.values() for name, text in by.items()]
    return "\n".join("\n".join([f"# {name}", *text]) for name, text in found) + "\n"


def words(page: str) -> list[str]:
    """Return what a page says, with the limits of its fields and the points of its drawings."""
    if page.startswith("{"):
        page = json.dumps(json.loads(page), indent=0, ensure_ascii=False)
        return plain(page.encode()).splitlines()
    page = HIDDEN.sub("", page)
    page = page.partition("<main")[2].partition("</main>")[0] or page
    page = re.sub(r"<svg\b.*?</svg>", lambda svg: drawn(svg[0]), page, flags=re.S)
    page = FIELD.sub(lambda tag: f"[{tag[1]}{NO_CHOICE.sub('', tag[2])}]", page)
    page = re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", page)
    page = ENDS.sub("\n", re.sub(r"\s+", " ", page)).replace("</td>", " | ")
    lines = plain(html.unescape(re.sub(r"<[^>]*>", "", page)).encode()).splitlines()
    return [words for line in lines if (words := " ".join(line.split()))]


def drawn(svg: str) -> str:
    """Return the texts of a drawing and all its numbers."""
    numbers = [f"{float(number):.0f}" for number in NUMBERS.findall(svg)]
    return f"{re.sub('<[^>]*>', ' ', svg)} ({' '.join(numbers)})</svg>"


def plain(content: bytes) -> str:
    """Return a file as lines of text, with numbers that are the same everywhere."""
    if content.startswith(b"PK"):
        archive = zipfile.ZipFile(BytesIO(content))
        parts = [f"{name}\n{plain(archive.read(name))}" for name in archive.namelist()]
        return "\n".join(parts)
    text = content.decode()
    if text.startswith("[{"):
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    return LONG.sub(lambda found: f"{float(found[0]):.6f}", text)
