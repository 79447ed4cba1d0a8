"""What careless people leave in scores: the study and its command."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from genie_research.boards.cleaning_study import simulate_cleaning
from genie_research.crowds.campaign import CampaignPlan
from genie_research.crowds.people import CrowdPlan

SMALL = ("--workers", "20", "--instances", "40", "--tasks", "2", "--bad", "0.4")


def run(*args):
    out, err = StringIO(), StringIO()
    call_command("simulate_crowd", *map(str, args), stdout=out, stderr=err)
    return out.getvalue()


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_what_it_says(tmp_path):
    args = (*SMALL, "--detectors", "none", "all", "--turning", "0", "5")
    out = run(*args, "--json", tmp_path / "a.json")
    assert "40 % bad, turning after 5" in out
    cells = json.loads((tmp_path / "a.json").read_text())["cells"]
    assert [cell["campaign"]["detector"] for cell in cells] == ["none", "all"] * 2
    assert cells[0]["stop_median"] is None
    assert cells[1]["noisy"]["value"] < cells[0]["noisy"]["value"]
    again = run(*args, "--json", tmp_path / "b.json")
    assert again == out
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_wrong_input_is_told(tmp_path):
    with pytest.raises(CommandError, match="two tasks"):
        run("--tasks", 1, "--detectors", "none")
    (tmp_path / "a.csv").write_text("system,segment\na,1\n")
    with pytest.raises(CommandError, match="needs system, segment, raw"):
        run(*SMALL, "--segments", tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("system,segment,raw\na,1,50\na,2,50\nb,3,50\n")
    with pytest.raises(CommandError, match="fewer than two"):
        run(*SMALL, "--segments", tmp_path / "b.csv", "--systems", 2)


@pytest.mark.slow
def test_a_crowd_with_thirty_percent_careless_is_cleaned():
    found = simulate_cleaning(CrowdPlan(0.3), CampaignPlan("all"), n_tasks=4, seed=11)
    assert found.noisy.value < 4
    assert found.noisy_copied.value < 7
    assert found.stop_median <= 16
    assert found.excluded.value <= 2
    assert found.tests.value < 27
