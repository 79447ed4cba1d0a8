"""The commands of `genie stats` and of simulations run on files such as their pages describe."""

import gzip
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from django.core.management import call_command

from tests.nets.conftest import tell
from tests.test_docs import ROOT, commands_in

SHOWN = [
    words
    for page in ("genie-stats", "statistics-systems")
    for words in commands_in(ROOT / "docs" / f"{page}.md")
    if words[0] in ("stats", "simulate_board") and len(words) > 1
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    system, worker = rng.integers(0, 3, 240), rng.integers(0, 8, 240)
    value = 50 + 5 * system + rng.normal(0, 9, 240).round()
    rows = list(zip(system, np.arange(240) % 30, worker, value, strict=True))

    def lines(header, made):
        return "\n".join([header, *made, ""])

    plain = [f"s{s},i{i},w{w},overall,{v:g}" for s, i, w, v in rows]
    texts = {
        "ratings.csv": lines("system,instance,worker,criterion,value", plain),
        "setup1.csv": lines(
            "system,mr_id,worker,fluency,adequacy",
            [f"s{s},i{i},w{w},{v:g},{v + w:g}" for s, i, w, v in rows],
        ),
        "pairs.csv": lines(
            "system_a,system_b,instance,worker,preferred",
            [f"x,y,i{i},w{w},{'xy'[s % 2]}" for s, i, w, _ in rows],
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    pages = [f"P{i},w{w},m{i},{v:g},{v + 3:g},a,b" for _, i, w, v in rows]
    header = "page,worker,mr_id,naturalness1,naturalness2,sys1,sys2"
    (tmp_path / "naturalness.csv.gz").write_bytes(
        gzip.compress(lines(header, pages).encode())
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_pages_show_both_commands():
    assert {words[0] for words in SHOWN} == {"stats", "simulate_board"}
    assert len(SHOWN) >= 6


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_a_command_shown_runs(files, words):
    out = StringIO()
    # smaller than shown: what counts last is given last
    small = ["--tasks", "2", "--splits", "2", "--instances", "20"]
    extra = small if words[0] == "simulate_board" else []
    call_command(*words, *extra, stdout=out, stderr=StringIO())
    tell(out.getvalue())
    for option, path in pairwise(words):
        if option in ("--html", "--json"):
            tell((files / path).read_text())
