"""A board as CSV, JSON, LaTeX and BibTeX."""

import csv
import io
import json
import shutil
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from genie.lib.formats import csv_text, tex
from tests.factories import make_ranked, make_submission

BOARD = "/tasks/tidy-news/"


@pytest.fixture
def two(task, who):
    task.citation = "@inproceedings{tidy, title={Tidy}}"
    task.save()
    make_ranked(task, 80, system="Kite_50% & more", **who)
    make_ranked(task, 79, system="=HYPERLINK(1)", simulated=True, **who)
    make_submission(task, system="Egret", **who)
    make_ranked(task, 99, system="Secret", visibility="PRIVATE", **who)


def test_a_board_links_to_its_exports_as_it_is_shown(client_of, two):
    page = client_of("submitter").get(BOARD).content.decode()
    assert f'"{BOARD}board.csv"' in page
    page = client_of("submitter").get(f"{BOARD}?columns=all").content.decode()
    assert f'"{BOARD}board.csv?columns=all"' in page


def test_a_file_without_rows_says_why(client, task):
    for form in ("csv", "json", "tex", "bib"):
        assert client.get(f"{BOARD}board.{form}").status_code == 200
    found = json.loads(client.get(f"{BOARD}board.json").content)
    assert (found["n_rows"], found["reason_if_empty"] != "") == (0, True)
    header = client.get(f"{BOARD}board.csv").content.decode()
    assert header.count("\n") == 1
    assert header.startswith("rank_first,rank_last,system")


def test_the_address_in_a_file_shows_the_same_rows_for_ever(client, task, two, who):
    found = json.loads(client.get(f"{BOARD}board.json").content)
    later = timezone.now() + timedelta(seconds=1)

    make_ranked(task, 90, system="Later", published_at=later, **who)

    path = "/tasks/" + found["address"].split("/tasks/")[1]
    assert "Later" not in client.get(path).content.decode()
    assert "Kite" in client.get(path).content.decode()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_the_latex_compiles(client, two, tmp_path):
    body = client.get(f"{BOARD}board.tex?columns=all").content.decode()
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\usepackage[T1]{fontenc}"
        f"\\begin{{document}}{body}\\end{{document}}"
    )
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


def test_latex_escapes_names_and_balances(client, two):
    body = client.get(f"{BOARD}board.tex").content.decode()

    assert r"Kite\_50\% \& more" in body
    assert "80.0 [78.0, 82.0]" in body
    assert "1--2" in body
    assert r"$^{*}$" in body
    assert body.count("{") == body.count("}")
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len({line.count(" & ") for line in lines}) == 1


def test_every_sign_that_latex_reads_is_escaped():
    assert tex("\\ {a} $x_1^2$ 5% #~\n&") == (
        r"\textbackslash{} \{a\} \$x\_1\textasciicircum{}2\$ 5\% "
        r"\#\textasciitilde{} \&"
    )


def test_no_cell_of_a_csv_is_a_formula():
    signs = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
    found = csv_text(["a"], [{"a": sign + "1"} for sign in signs] + [{"a": -1.5}])

    lines = csv.reader(io.StringIO(found, newline=""))
    cells = [line[0] for line in lines]
    assert cells == ["a", *(f"'{sign}1" for sign in signs), "-1.5"]


def test_unknown_forms_and_moments_are_not_found(client, task):
    for path in ("board.pdf", "board.csv?at=soon", "board.csv?at=2999-01-01"):
        assert client.get(BOARD + path).status_code == 404
