"""The command on data made up here: it must say what is wrong with it."""

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_ranked, make_task, make_team, make_user


def reproduce(*tables, **options):
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("reproduce", *tables, stdout=out, stderr=err, **options)
    except CommandError as error:
        return out.getvalue(), err.getvalue(), str(error)
    return out.getvalue(), err.getvalue(), None


@pytest.fixture
def pairs(tmp_path):
    """Two-choice labels of a comparison that nobody published."""

    def write(name="v1", n=60, labels=10):
        rng = np.random.default_rng(3)
        lines = ["pair_id,worker,side,winner"]
        for pair in range(n):
            for worker in range(labels):
                better = rng.random() < 0.8
                winner = "CGA" if better else "V1"
                lines.append(f"{pair},w{worker},{'AB'[rng.integers(2)]},{winner}")
        (tmp_path / "dynamic").mkdir(exist_ok=True)
        (tmp_path / "dynamic" / f"{name}.csv").write_text("\n".join(lines) + "\n")
        return tmp_path

    return write


def test_tables_by_formula_need_no_data(tmp_path):
    named = ("genie-appendix-c", "stopping-errors", "genie-appendix-c")
    out, err, error = reproduce(*named, data=tmp_path)
    assert error is None
    assert "FAILS" not in out
    assert "1.7678" in out
    assert "0.0598" in out
    assert "1 of 2: genie-appendix-c" in err


def test_a_cell_that_should_hold_and_does_not_is_an_error(pairs):
    out, _, error = reproduce("dynamic-kappas", data=pairs())
    assert "FAILS" in out
    assert "dynamic/r1.csv is not in the data folder." in out
    assert error.startswith(
        "1 of the numbers that must hold are not met: dynamic-kappas: V1"
    )


def test_everything_is_written_before_the_verdict(pairs, tmp_path):
    to_json, plots = tmp_path / "all.json", tmp_path / "pictures"
    _, err, error = reproduce(
        "dynamic-kappas", data=pairs(), json=to_json, plots=plots, seed=4
    )
    assert error is not None
    told = json.loads(to_json.read_text("utf-8"))
    assert (told["seed"], told["runs"]) == (4, None)
    [table] = told["tables"]
    assert table["table"] == "dynamic-kappas"
    assert [c["verdict"] for c in table["cells"]] == ["FAILS", "no data", "no data"]
    assert (plots / "dynamic-kappas.svg").read_text("utf-8").startswith("<svg")
    assert f"Wrote {to_json}." in err


def test_the_same_seed_gives_the_same_bytes(pairs, tmp_path):
    (tmp_path / "dynamic").mkdir(exist_ok=True)
    rng = np.random.default_rng(1)
    np.savetxt(tmp_path / "dynamic/sim_seed21_z.txt", rng.standard_normal(15_000))
    np.savetxt(tmp_path / "dynamic/sim_seed21_capability.txt", rng.uniform(0.8, 1, 100))
    texts = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        path = tmp_path / f"{name}.json"
        reproduce("dynamic-table-3", data=tmp_path, json=path, seed=seed, runs=20)
        texts.append(json.loads(path.read_text("utf-8"))["tables"])
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_an_empty_folder_is_an_error(tmp_path):
    out, _, error = reproduce("dynamic-kappas", "wmt21-metrics", data=tmp_path)
    assert "no data" in out
    assert error == "The data folder has no data for these tables."


@pytest.mark.parametrize(
    ("tables", "options", "said"),
    [
        (["table-9"], {}, "There is no table table-9; available: "),
        ([], {"runs": 0}, "At least one run is needed, not 0."),
    ],
)
def test_wrong_wishes_are_refused_in_words(tmp_path, tables, options, said):
    assert reproduce(*tables, data=tmp_path, **options)[2].startswith(said)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    _, _, error = reproduce("dynamic-kappas", data=tmp_path / "nowhere")
    assert error == f"There is no folder {tmp_path / 'nowhere'}."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "dynamic/v1.csv is not a CSV file"),
        ("pair_id,winner\n1,CGA\n", "dynamic/v1.csv lacks the column side."),
        ("pair_id,side,winner\n", "dynamic/v1.csv has no rows."),
        ('pair_id,side,winner\n"1,A,CGA\n', "dynamic/v1.csv is not a CSV file"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path, text, said):
    (tmp_path / "dynamic").mkdir()
    (tmp_path / "dynamic/v1.csv").write_text(text)
    _, _, error = reproduce("dynamic-kappas", data=tmp_path)
    assert error.startswith(f"dynamic-kappas: {said}")


@pytest.mark.parametrize(
    ("z", "said"),
    [
        ("1\nx\n", "dynamic/sim_seed21_z.txt is not one number per line"),
        ("1\n2\n", "dynamic/sim_seed21_z.txt has 2 numbers; 3500 are needed."),
    ],
)
def test_a_broken_list_of_requests_is_named(tmp_path, z, said):
    (tmp_path / "dynamic").mkdir()
    (tmp_path / "dynamic/sim_seed21_z.txt").write_text(z)
    (tmp_path / "dynamic/sim_seed21_capability.txt").write_text("0.9\n" * 10)
    _, _, error = reproduce("dynamic-table-3", data=tmp_path, runs=2)
    assert error.startswith(f"dynamic-table-3: {said}")


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        ("[1]", "newstest2021.de-en.hyp.Mine.en.json is not a JSON object."),
        ("{", "newstest2021.de-en.hyp.Mine.en.json is not a JSON object."),
        ('{"a": "x"}', "newstest2021.de-en.hyp.Mine.en.json has no prediction for b."),
    ],
)
def test_a_broken_submission_is_named(tmp_path, prediction, said):
    folder = tmp_path / "wmt21-de-en"
    (folder / "submissions").mkdir(parents=True)
    (folder / "ids.txt").write_text("a\nb\n")
    (folder / "reference.A.txt").write_text("One house.\nTwo birds.\n")
    name = "newstest2021.de-en.hyp.Mine.en.json"
    (folder / "submissions" / name).write_text(prediction)
    _, _, error = reproduce("wmt21-metrics", data=tmp_path)
    assert error == f"wmt21-metrics: {said}"


@pytest.mark.django_db
def test_each_kind_of_missing_number_is_counted_as_such(tmp_path):
    task = make_task("menu")
    by = {"team": make_team("Birds"), "owner": make_user("nina")}
    for system, mean in (("Red", 70), ("Blue", 60)):
        make_ranked(task, mean, system=system, **by)
    right = {"id": "Red/score", "value": 70, "tolerance": 0.5}
    known = {"id": "Blue/score", "value": 65, "tolerance": 0.5, "why": "Two left out."}
    lacks = {"id": "Green/score", "value": 50, "tolerance": 0.5, "why": "Not here."}
    path, to_json = tmp_path / "printed.json", tmp_path / "all.json"

    def closing(*printed):
        path.write_text(json.dumps(printed))
        *_, error = reproduce(task="menu", expected=path, json=to_json)
        [counts] = json.loads(to_json.read_text("utf-8"))["closing"]
        names = ("holding", "not met", "no data", "failing")
        return [counts[name] for name in names], error

    assert closing(right, known, lacks) == ([1, 1, 1, 0], None)
    counts, error = closing(right, {**known, "why": ""}, lacks)
    assert counts == [1, 0, 1, 1]
    assert error.startswith("1 of the numbers that must hold are not met: menu: Blue")
    # a misspelt id must not pass as reproduced
    counts, error = closing(right, {**right, "id": "Rde/score"})
    assert counts == [1, 0, 1, 0]
    assert "Rde, score (no data)" in error
