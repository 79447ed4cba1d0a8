"""The real submissions of 2021, through the command a submitter uses."""

import contextlib
import csv
import json

import pytest
from django.core.management import call_command

from leaderboard.metric_runs import services
from leaderboard.models import Submission
from leaderboard.tasks.services import load
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FOLDER = SHARED / "data" / "wmt21-de-en"


def expected() -> dict[str, dict[str, str]]:
    if not FOLDER.is_dir():
        return {}
    with (FOLDER / "expected.csv").open(encoding="utf-8") as file:
        return {row["system"]: row for row in csv.DictReader(file)}


def file_of(system: str):
    return next(FOLDER.glob(f"submissions/*{system}.en.json"))


@pytest.fixture
def wmt21(db):
    return load.load_task("wmt21-de-en", FOLDER).task


@pytest.fixture
def sue(django_user_model):
    return django_user_model.objects.create_user("sue")


def hand_in(system: str, capsys, path=None) -> dict:
    with contextlib.suppress(SystemExit):
        call_command(
            "submit",
            "wmt21-de-en",
            str(path or file_of(system)),
            system=system,
            owner="sue",
            wait=True,
            json=True,
        )
    return json.loads(capsys.readouterr().out)


@needs_shared
@pytest.mark.parametrize("system", ["GENIE-large-6-6", "GENIE-base-3-3"])
def test_shuffled_ids_are_noticed_and_the_proposal_gives_the_papers_number(
    system, wmt21, sue, capsys, tmp_path
):
    answer = hand_in(system, capsys)
    warning = next(w for w in answer["warnings"] if w["code"] == "misaligned-ids")
    assert warning["sentence"].endswith(".")
    assert warning["figures"]
    assert answer["state"] == "MEASURED"  # a warning does not block
    proposal = tmp_path / "aligned.json"
    proposal.write_bytes(services.proposal(Submission.objects.get(pk=answer["id"])))
    again = hand_in(system, capsys, proposal)
    row = expected()[system]
    assert f"{again['metrics']['sacrebleu']:.1f}" == row["paper_sacrebleu"]
    assert "misaligned-ids" not in {w["code"] for w in again["warnings"]}
