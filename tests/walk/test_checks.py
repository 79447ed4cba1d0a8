"""Each check of the walk complains of the page or the file that it is there for."""

import json
from types import SimpleNamespace

import pytest

from tests.walk import routes
from tests.walk.checks import Truth, said_by, wrong_with, wrong_with_markup
from tests.walk.grid import Walk

HEAD = "<!doctype html><html lang=en><head><title>Board</title></head><body>"


def truth(**more) -> Truth:
    said = said_by({"n_systems": 2, "criteria": [{"n_ratings": 24, "n_workers": 4}]})
    said["pairs"] = {1}
    there = {"n_rows": 2, "n_ranked": 2, "n_scored": 2, "planned": 12}
    names = {"submissions": 2, "names": ("Kite", "Wren")}
    return Truth(**{**there, **names, "said": said, **more})


def page(body: str, about: Truth | None = None, **more: bool) -> list[str]:
    content = f"{HEAD}{body}</body></html>".encode()
    return wrong_with("text/html; charset=utf-8", content, about or truth(), **more)


def file(content: object) -> list[str]:
    return wrong_with("application/json", json.dumps(content).encode(), truth())


RIGHT = """<p>Kite and Wren: 2 ranked; 24 ratings of 2 systems by 4 workers.
Without 5 of the ratings nothing changes. 0 of 1 pairs differ.</p>
<table><tr><th>Rank</th><th>Score</th></tr><tr><td>1–2</td><td>7 [6, 8]</td></tr>
</table>"""


def test_a_page_that_is_right_passes():
    assert page(RIGHT, whole=True, counts=True) == []
    assert list(wrong_with_markup(f"{HEAD}{RIGHT}</body></html>")) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1–2</td>", "1–3</td>"),
        ("1–2</td>", "2–1</td>"),
        ("7 [6, 8]", "9 [6, 8]"),
        ("7 [6, 8]", "7 [8, 6]"),
        ("2 ranked", "3 ranked"),
        ("2 systems", "3 systems"),
        ("24 ratings", "25 ratings"),
        ("4 workers", "5 raters"),
        ("1 pairs", "2 pairs"),
        ("and Wren", ""),
    ],
)
def test_a_number_or_a_name_that_is_not_the_board_s_is_found(right, wrong):
    assert right in RIGHT
    assert len(page(RIGHT.replace(right, wrong, 1), whole=True, counts=True)) == 1


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("No systems yet.", "n_rows"),
        ("No scores yet.", "n_scored"),
        ("No automatic metrics.", "metrics"),
        ("No comparisons yet.", "comparisons"),
        ("No outputs here.", "texts"),
    ],
)
def test_none_is_said_only_when_there_are_none(sentence, what):
    counts = {"metrics": 0, "comparisons": 0, "texts": 0}
    none = truth(n_rows=0, n_scored=0, counts=counts)
    assert page(f"<p>{sentence}</p>", none) == []
    some = truth(n_rows=0, n_scored=0, counts={**counts, what: 3})
    assert page(f"<p>{sentence}</p>", some)


@pytest.mark.parametrize(
    "row",
    [
        {"low": 2, "high": 1},
        {"low": 1, "mean": 3, "high": 2},
        {"rank_first": 1, "rank_last": 3},
        {"rank_first": 2, "rank_last": 1},
        {"n": 13, "of": 12},
    ],
)
def test_numbers_of_a_file_are_in_order(row):
    right = {"low": 1, "mean": 2, "high": 3, "rank_first": 1, "rank_last": 2, "n": 12}
    assert file({"rows": [{**right, "of": 12}]}) == []
    assert len(file({"rows": [row]})) == 1


def test_a_file_that_cannot_be_read_is_found():
    for kind, content in (
        ("application/json", b"{"),
        ("application/json", b'{"mean": NaN}'),
        ("image/svg+xml", b"<svg>"),
        ("text/csv", b"a,b\n1\n"),
        ("image/png", b"GIF89a"),
    ):
        assert len(wrong_with(kind, content, truth())) == 1, content


def test_markup_that_a_browser_would_have_to_mend_is_found():
    for broken in ("<p><ul></ul></p>", "<table><p>x</p></table>", "<b><i>x</b></i>"):
        assert list(wrong_with_markup(f"{HEAD}{broken}</body></html>")), broken


def test_an_answer_of_the_server_s_fault_is_told():
    walk = object.__new__(Walk)
    walk.outlines, walk.role, walk.wrong = {}, "visitor", []
    walk.world = SimpleNamespace(kind="own")
    answer = SimpleNamespace(streaming=False, content=b"", status_code=503, headers={})
    walk.client = SimpleNamespace(get=lambda path: answer)
    walk.open(routes.Route("board", "tasks/<slug>/", ("slug",)), "/tasks/own/")
    assert walk.wrong == ["board | own | visitor | GET /tasks/own/: 503: no exception"]


def test_a_route_that_the_walk_cannot_fill_is_told():
    with pytest.raises(routes.UnknownPartError, match="new/<thing>"):
        routes.filling(routes.Route("new", "new/<thing>/", ("thing",)), "thing")
