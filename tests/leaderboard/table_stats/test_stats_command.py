"""`manage.py stats`: what it prints and writes, without a database."""

import json
import subprocess
import sys
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from scipy import stats

from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.ranks import rank_systems
from leaderboard.table_stats.page import as_page
from leaderboard.table_stats.report import Sheet
from tests.nets.conftest import tell


def run(*args):
    out = StringIO()
    call_command("stats", *map(str, args), stdout=out, stderr=StringIO())
    tell(out.getvalue())
    return out.getvalue()


def numbers(tmp_path, *args):
    out = tmp_path / "out.json"
    run(*args, "--json", out)
    tell(out.read_text())
    return json.loads(out.read_text())


def table(tmp_path, criteria=("",), n=600):
    """Write ratings of three systems by twenty workers, and give them."""
    rng = np.random.default_rng(5)
    path = tmp_path / "ratings.csv"
    columns = {}
    with path.open("w") as file:
        file.write("system,instance,worker,criterion,value\n")
        for criterion in criteria:
            system, worker = rng.integers(0, 3, n), rng.integers(0, 20, n)
            instance = rng.integers(0, 40, n)
            value = 50 + 6.0 * system + rng.normal(0, 10, 20)[worker]
            value = np.round(value + rng.normal(0, 15, n))
            columns[criterion] = value, system, worker, instance
            for v, s, w, i in zip(value, system, worker, instance, strict=True):
                file.write(f"s{s},i{i:02d},w{w:02d},{criterion or 'all'},{v:g}\n")
    return path, columns


def test_the_json_has_what_was_promised(tmp_path):
    path, columns = table(tmp_path, ("fluency", "adequacy"))
    found = numbers(tmp_path, path)
    estimates = estimate_systems(*columns["fluency"])
    ranking = rank_systems(estimates)
    for line in found["systems"]:
        if line["criterion"] == "fluency":
            name = line["system"].removeprefix("s")
            interval = estimates.interval(name)
            assert line["estimate"] == pytest.approx(interval.estimate)
            assert line["low"] == pytest.approx(interval.low)
            assert line["high"] == pytest.approx(interval.high)
            assert line["low_crowd"] < line["plain"] < line["high_crowd"]
            ranks = ranking.rank_of(name)
            assert (line["rank_low"], line["rank_high"]) == (ranks.first, ranks.last)
            assert line["cluster"] == ranking.cluster_of(name)


def test_text_latex_and_page_say_the_same(tmp_path):
    path, _ = table(tmp_path)
    page = tmp_path / "page.html"
    text = run(path, "--html", page)
    first = next(line for line in text.splitlines() if line.startswith("     1"))
    estimate = first.split()[2]
    tell(page.read_text())
    assert estimate in page.read_text()
    latex = run(path, "--latex")
    assert estimate in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\bottomrule") == 7
    assert "_" not in latex.replace(r"\_", "")


def test_the_tests_that_papers_report_stand_beside(tmp_path):
    path, columns = table(tmp_path)
    (about,) = numbers(tmp_path, path)["criteria"]
    value, system, _, instance = columns[""]
    means = pd.DataFrame({"v": value, "s": system, "i": instance}).pivot_table(
        index="i", columns="s", values="v"
    )
    for one in about["neighbours"]:
        both = means[[int(one["a"][1]), int(one["b"][1])]].dropna()
        a, b = both.to_numpy().T
        assert one["n"] == len(both)
        assert one["difference"] == pytest.approx((a - b).mean())
        theirs = stats.wilcoxon(a, b, zero_method="pratt").pvalue
        assert one["p_wilcoxon"] == pytest.approx(theirs, abs=0.005)
        paired = stats.ttest_rel(a, b).pvalue
        assert one["p_randomisation"] == pytest.approx(paired, abs=0.02)
        assert one["p_bootstrap"] == pytest.approx(paired, abs=0.03)


def test_the_same_table_gives_the_same_bytes_in_any_order(tmp_path):
    path, _ = table(tmp_path)
    head, *lines = path.read_text().splitlines()
    other = tmp_path / "other.csv"
    mixed = [lines[i] for i in np.random.default_rng(1).permutation(len(lines))]
    other.write_text("\n".join([head, *mixed]))
    assert run(path) == run(other)


@pytest.mark.parametrize(
    "lines",
    [
        ["a,1,x,3"],
        ["a,1,x,3", "b,1,x,4"],
        ["a,1,x,3", "a,1,y,3", "b,1,x,3", "b,1,y,3"],
        ["a,1,x,3", "a,2,y,5", "b,3,z,4"],
        ["a,1,x,3", "a,1,x,3", "a,1,y,1", "b,1,y,1"],
    ],
)
def test_what_few_ratings_cannot_say_is_left_open(tmp_path, lines):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["system,instance,worker,value", *lines]))
    found = numbers(tmp_path, path)
    for line in found["systems"]:
        workers = {row.split(",")[2] for row in lines if row[0] == line["system"]}
        assert line["n_workers"] == len(workers)
        assert (line["low"] is None) == (len(workers) < 2)


def test_a_table_without_instances_covers_workers_only(tmp_path):
    path = tmp_path / "r.csv"
    rows = [f"{'ab'[k % 2]},w{k % 7},{k % 5}" for k in range(70)]
    path.write_text("\n".join(["system,worker,value", *rows]))
    numbers(tmp_path, path)


def test_pairs_give_strengths_between_workers(tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "pairs.csv"
    lines = ["system_a,system_b,instance,worker,preferred"]
    for k in range(300):
        lines.append(f"x,y,{k},w{k % 12},{rng.choice(['x', 'x', 'y', 'tie'])}")
    path.write_text("\n".join(lines))
    found = numbers(tmp_path, path)
    first, second = found["systems"]
    assert first["plain"] + second["plain"] == pytest.approx(1)


def test_one_who_never_lost_has_a_strength_all_the_same(tmp_path):
    path = tmp_path / "pairs.csv"
    header = "system_a,system_b,worker,preferred\n"
    path.write_text(header + "a,b,w1,a\na,b,w2,a\nb,a,w3,tie\n")
    numbers(tmp_path, path)


def test_magnitudes_and_ranks(tmp_path):
    path = tmp_path / "pages.csv"
    rows = [f"P{k},w{k % 6},m{k},{100 + k * k},{50 + k},x,y" for k in range(60)]
    path.write_text("\n".join(["page,worker,mr_id,nat1,nat2,sys1,sys2", *rows]))
    numbers(tmp_path, path, "--scale", "rank")
    logs = numbers(tmp_path, path, "--scale", "log")["systems"]
    assert logs[0]["estimate"] == pytest.approx(-logs[1]["estimate"])
    path.write_text(path.read_text().replace("100,50", "0,50"))
    with pytest.raises(CommandError, match=r"must be above 0; one is 0\."):
        run(path, "--scale", "log")


def test_what_is_wrong_is_said_in_one_sentence(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("system,instance,worker,value\na,1,x,good\n")
    with pytest.raises(CommandError) as refusal:
        run(path)
    assert "value: ignore, words that are no ratings, such as good." in str(
        refusal.value
    )


@pytest.mark.slow
def test_no_database_is_needed(tmp_path):
    path, _ = table(tmp_path)
    program = (
        "import os, sys; os.environ['DATABASE_URL'] = 'postgres://nobody@127.0.0.1:1/none';"
        "sys.argv = ['manage.py', 'stats', sys.argv[1]];"
        "import runpy; runpy.run_path('manage.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "600 ratings by 20 workers" in done.stdout


def test_a_page_shows_all_names_as_text():
    name = "<b>&"
    page = as_page(name, [("", [Sheet(name, (name,), ((name,),), (name,))])])
    assert "<b>" not in page
    assert page.count("&lt;b&gt;&amp;") == 6
