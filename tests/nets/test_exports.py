"""All files that a board and its submissions give out, for boards of several kinds.

Numbers are compared to six decimals: the last digits differ between machines.
"""

import json
import re
import zipfile
from hashlib import sha256
from io import BytesIO

import pytest

from leaderboard.boards.exports.board import WRITERS as TABLES
from leaderboard.metric_board.views.downloads import WRITERS as SCORES
from leaderboard.releases.exports import WRITERS as CARDS
from tests.nets.conftest import FILES
from tests.nets.frozen import BOARDS, freeze
from tests.nets.releases import columns, rebuilt, unpack
from tests.walk import worlds

LONG = re.compile(r"-?\d+\.\d{7,}(?:e-?\d+)?")
# Long files that repeat what others hold: their digests are committed.
BY_DIGEST = re.compile(r"zip$|^judgments\.jsonl|^metric-scores")
REPEATED_CARDS = re.compile(r"^system-card\.(json|tex)")


@pytest.mark.django_db
@pytest.mark.parametrize("kind", BOARDS)
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
    for name, text in found.items():
        net(f"{kind}/{name}", text)
    assert {file.name for file in (FILES / kind).iterdir()} == found.keys()


def exports(world) -> dict[str, bytes]:
    board = f"/tasks/{world.task.slug}"
    names = [f"board.{form}" for form in TABLES]
    paths = {name: f"{board}/{name}?columns=all" for name in names}
    paths["every-eval-ever.json"] = f"{board}/every-eval-ever.json"
    paths |= {name: f"{board}/metrics/files/{name}" for name in SCORES}
    system = world.task.submissions.order_by("pk")[1].pk
    names = [f"card.{form}" for form in CARDS]
    paths |= {f"system-{name}": f"/submissions/{system}/{name}" for name in names}
    client = world.client("visitor")
    answers = {name: client.get(path) for name, path in paths.items()}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {name: answer.getvalue() for name, answer in answers.items()}


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
