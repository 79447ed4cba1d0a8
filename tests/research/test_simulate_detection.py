"""manage.py simulate_detection: the study from the command line."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from genie_research.detection.detection_study import simulate_detection
from genie_research.detection.study_table import study_table
from quality.detection.stats.detectors import DETECTORS


def run(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("simulate_detection", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_two_tables_the_published_figures_and_progress(tmp_path):
    json_to = ["--json", str(tmp_path / "d.json")]
    out, err = run("--rounds", "4", "2", *json_to)
    assert "88 workers, 2 rounds" in out
    assert "88 workers, 4 rounds" in out
    assert out.index("2 rounds") < out.index("4 rounds")
    for spec in DETECTORS.values():
        assert out.count(spec.title) == 2
    assert "100/24" in out
    assert "lognormal: round 4 of 4" in err
    told = json.loads((tmp_path / "d.json").read_text())
    assert [study["n_rounds"] for study in told["studies"]] == [2, 4]
    cells = told["studies"][1]["cells"]
    assert len(cells) == len(DETECTORS) * 3


def test_the_command_prints_what_the_library_computes():
    out, _ = run(
        "--rounds", "3", "--counts", "whole-hits", "--detectors", "rate-uniform"
    )
    from genie_research.detection.question_counts import question_counts

    study = simulate_detection(
        question_counts("whole-hits"), n_rounds=3, detectors=["rate-uniform"]
    )
    assert out.strip() == study_table(study, "whole-hits")


def test_all_shapes_and_own_counts(tmp_path):
    out, _ = run("--rounds", "1", "--counts", "all", "--detectors", "rate-fixed-2")
    assert out.count("88 workers, 1 rounds") == 7
    (tmp_path / "mine.txt").write_text("3\n14\n15\n80\n")
    out, err = run("--rounds", "1", "--counts", str(tmp_path / "mine.txt"), verbosity=0)
    assert "mine: 4 workers" in out
    assert "1-4 (1 workers)" in out
    assert "15+ (2 workers)" in out
    assert "round" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--counts", "gaussian"], "neither a file nor"),
        (["--rounds", "0"], "A study needs"),
        (["--threshold-rate", "1.5"], "threshold rate"),
        (["--threshold-posterior", "2"], "threshold"),
        (["--detectors", "horoscope"], "invalid choice"),
    ],
)
def test_impossible_orders_are_refused_in_words(arguments, words):
    with pytest.raises(CommandError, match=words):
        run(*arguments, **({} if "--rounds" in arguments else {"rounds": [1]}))


@pytest.mark.parametrize("text", ["3\nmany\n", "3.5\n", "-2\n", "", "0\n"])
def test_files_without_counts_are_refused(tmp_path, text):
    path = tmp_path / "counts.txt"
    path.write_text(text)
    with pytest.raises(CommandError):
        run("--rounds", "1", "--counts", str(path))


def test_nobody_flagged_is_a_dash():
    study = simulate_detection([1] * 5, n_rounds=1, detectors=["class-fixed-2"])
    assert "--/" in study_table(study, "one question each")
