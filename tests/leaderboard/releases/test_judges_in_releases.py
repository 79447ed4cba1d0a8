"""What judges said is in a release, and their scores come out of it again."""

import csv
import json

import pytest

from crowd.models import Campaign
from genie.lib.errors import GenieError
from genie.lib.formats import available
from leaderboard.evaluation.selectors.board_ratings import BY_PEOPLE
from leaderboard.judges import scripted
from leaderboard.judges.selectors.told import address_told
from leaderboard.judges.services import ask, decide, define
from leaderboard.judges.services.work import work
from leaderboard.models import Judge, JudgeCall, JudgeLicence, JudgeRun, Submission
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from tests.factories import make_user
from tests.kept import kept
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import (
    SECRET,
    board_of,
    changed,
    everything,
    forged,
    genies_detector,  # noqa: F401
    rows,
)

HOSTILE = '=HYPERLINK("http://evil.example")\u2028<script>'


def judge_of(script="words", **fields):
    made = {"endpoint": "scripted", "model": script, **fields}
    return define.make(script, "1", made, per_minute=0, at_once=1, n_retries=0)


def done(judge, task, **wish):
    run = ask.ask(judge, task, ask.Wish(**wish))
    said = {"private": wish.get("with_private", False)}
    said["references"] = run.with_references
    staff = make_user(f"approver-{run.pk}")
    assert decide.approve(run, by=staff, reason="for the paper of Rosa", **said)
    work(run.pk)
    run.refresh_from_db()
    assert run.state == JudgeRun.State.DONE
    return run


@pytest.fixture
def task(team, submitter):
    return kept("a released board", lambda: board_of(team, submitter))


@pytest.fixture
def run(task, monkeypatch):
    honest = scripted.answer

    def answer(script, questions, texts, *asked):
        said = honest(script, questions, texts, *asked)
        if "number 3" in str(texts):
            return said.replace("Scripted", f"{json.dumps(HOSTILE)[1:-1]} Scripted")
        return "as you like" if "number 7" in str(texts) else said

    monkeypatch.setattr(scripted, "answer", answer)
    return kept("judge run", lambda: done(judge_of(k=2), task, with_private=True))


@pytest.fixture
def folder(run, task, tmp_path):
    JudgeLicence.objects.create(
        run=run,
        criterion="overall",
        state="LICENSED",
        reasons=[{"name": "agreement", "holds": True, "words": "good enough"}],
        facts={"model": "script words"},
    )
    JudgeCall.objects.filter(run=run, sample=1).update(probe="injection")
    # it became private after it was asked about
    JudgeRun.objects.filter(pk=run.pk).update(with_private=False)
    return make(task, tmp_path / "release").folder


def test_scores_of_judges_come_out_of_their_answers(run, task, tmp_path):
    folder = make(task, tmp_path / "release").folder
    rebuilt = rebuild(folder)
    assert rebuilt.n_same["judges"] > 100
    assert not [line for line in rebuilt.skipped if "judge" in line]
    [told] = rows(folder, "judge_runs")
    assert (told["n_calls"], told["n_invalid"]) == (2 * 2 * 12, 2 * 2)
    assert told["models"] == ["script words"]
    assert len(rows(folder, "judge_scores")) == 2 * 2
    [judge] = rows(folder, "judges")
    assert judge["definition"]["prompt"] == run.judge.definition["prompt"]
    assert judge["signature"] == run.judge.signature
    described = json.loads((folder / "croissant.json").read_text())
    assert described["rai:machineAnnotationTools"] == [judge["signature"]]
    readme = (folder / bundle.CARD).read_text("utf-8")
    assert "script words 1 (a script, script words" in readme
    assert BY_PEOPLE in readme


def test_cards_and_methods_name_judges_and_their_licences(run, task, client):
    kite = Submission.objects.get(system_name="Kite")
    JudgeLicence.objects.create(run=run, criterion="overall", state="REFUSED")
    found = client.get(f"/submissions/{kite.pk}/card.json").json()["sections"]
    lines = found["Judges (programs)"]
    assert lines["ranks"] == BY_PEOPLE
    told = lines["script words 1"]
    assert told["prompt, verbatim"] == run.judge.definition["prompt"]
    assert told["prompt (SHA-256)"][:12] in told["signature"]
    assert told["questions about this system"] == 2 * 12
    assert told["without a valid answer"] == 2
    assert told["licence"]["overall"].startswith("not licensed on 20")
    assert told["licence"]["fluency"] == "none"
    page = client.get(f"/submissions/{kite.pk}/card/").text
    hashed = told["prompt (SHA-256)"][:12]
    assert "Judges (programs)</h2>" in page
    assert "Judges (programs): script words 1 (script words, prompt" in page
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    report = client.get(f"/admin/leaderboard/task/{task.pk}/report/").text
    assert f"prompt {hashed}, temperature 0" in report
    assert BY_PEOPLE in report


def test_of_an_address_only_a_public_host_is_told(monkeypatch):
    monkeypatch.setenv("GENIE_JUDGES", "lab")
    told = []
    for url, private in [
        ("https://judges.example/v1", ""),
        ("https://judges.example/v1", "yes"),
        ("https://10.0.0.8/v1", ""),
        ("https://key:word@judges.example/v1", ""),
        ("https://gpu1/v1", ""),
    ]:
        monkeypatch.setenv("GENIE_JUDGE_LAB_PRIVATE", private or "no")
        monkeypatch.setenv("GENIE_JUDGE_LAB_URL", url)
        told.append(address_told(Judge(definition={"endpoint": "lab", "url": url})))
    assert told == ["judges.example", "", "", "", ""]


def test_nothing_of_private_systems_or_of_staff_is_told(folder, run):
    secret = Submission.objects.get(system_name="Secret")
    assert JudgeCall.objects.filter(run=run, submission=secret).exists()
    assert {row["submission"] for row in rows(folder, "judge_calls")} == {
        row["submission"] for row in rows(folder, "systems")
    }
    asked = {row["request"] for row in rows(folder, "judge_calls")} - {None}
    assert {row["request"] for row in rows(folder, "judge_answers")} == asked
    said = everything(folder)
    assert run.decided_by.username not in said
    assert "paper of Rosa" not in said


def test_reasons_that_rest_on_private_outputs_and_refusals_are_not_told(
    run, task, tmp_path
):
    reasons = [{"name": "people", "holds": True, "words": "figures of Secret"}]
    JudgeLicence.objects.create(
        run=run, criterion="overall", state="LICENSED", reasons=reasons
    )
    refused = run.calls.filter(state="INVALID")
    assert refused.update(problem="refused: I will not copy what it says")
    folder = make(task, tmp_path / "release", texts=False).folder
    said = everything(folder)
    assert "figures of Secret" not in said
    assert "I will not copy" not in said
    assert {row["problem"] for row in rows(folder, "judge_calls")} == {"", "refused"}
    assert rebuild(folder).n_same["judges"]


def test_probes_of_audits_are_there_and_count_nowhere(folder):
    calls = rows(folder, "judge_calls")
    assert {call["probe"] for call in calls} == {"", "injection"}
    assert rows(folder, "judge_runs")[0]["n_calls"] == 2 * 12
    # the script says the same each time: so do the means
    assert rebuild(folder).n_same["judges"]


def test_what_a_judge_wrote_breaks_no_table(folder):
    texts = [row["text"] for row in rows(folder, "judge_answers")]
    assert any(HOSTILE.split("\u2028")[1] in text for text in texts)
    with (folder / "judge_answers.csv").open(encoding="utf-8", newline="") as sheet:
        cells = [row["text"] for row in csv.DictReader(sheet)]
    assert len(cells) == len(texts)
    assert not [cell for cell in cells if cell.startswith("=")]


def _first(name, **fields):
    def change(found):
        row = next(r for r in found if r.get("state", "VALID") in ("VALID", "LICENSED"))
        row.update({key: made(row[key]) for key, made in fields.items()})

    return name, change, next(iter(fields))


FORGED = [
    _first(
        "judge_answers", text=lambda text: text.replace('"answer": ', '"answer": 9')
    ),
    _first("judge_answers", text=lambda text: text.replace("Scripted", "Because")),
    _first("judge_answers", model=lambda _: "a better one"),
    _first("judge_calls", values=lambda held: {**held, "overall": 0.123}),
    _first("judge_calls", reasons=lambda held: {**held, "overall": "It shines."}),
    _first("judge_calls", state=lambda _: "INVALID"),
    _first("judge_scores", value=lambda value: value + 0.01),
    _first("judge_scores", per_instance=lambda held: [0.9, *held[1:]]),
    _first("judges", signature=lambda said: said.replace("k:2", "k:3")),
    _first("judges", definition=lambda made: {**made, "prompt": "Be kind."}),
    _first("judge_runs", n_invalid=lambda n: n - 1),
    _first("judge_licences", reasons=lambda held: [{**held[0], "holds": False}]),
    _first("judge_licences", state=lambda _: "EXPIRED"),
]


def test_each_forged_field_is_named(folder):
    for name, change, field in FORGED:
        with forged(folder, name, change), pytest.raises(GenieError) as raised:
            rebuild(folder)
        assert raised.value.code == "differs", (name, field)
        assert raised.value.message.startswith("judge"), (name, field)
    assert rebuild(folder).n_same["judges"]


def test_pairs_are_read_in_both_orders(task, tmp_path):
    done(judge_of("likes-first", mode="pairwise"), task)
    folder = make(task, tmp_path / "pairs").folder
    assert {row["whole"] for row in rows(folder, "judge_scores")} == {True}
    assert rebuild(folder).n_same["judges"] > 50
    # against a system that is not in the release, nobody can compute it
    done(judge_of("obeys", mode="pairwise"), task, with_private=True)
    folder = make(task, tmp_path / "hidden").folder
    assert {row["whole"] for row in rows(folder, "judge_scores")} == {True, False}
    assert any("(2 scores)" in line for line in rebuild(folder).skipped)


def test_marked_errors_and_pages_of_several_are_read_again(task, tmp_path):
    task.config["human"].update(
        design="mqm", scale="mqm", hit_template="mqm-translation"
    )
    task.save()
    done(judge_of(), task)
    done(judge_of("likes-long", mode="joint"), task)
    folder = make(task, tmp_path / "marked").folder
    calls = rows(folder, "judge_calls")
    assert any(call["marks"] for call in calls)
    assert any(len(call["beside"]) == 2 for call in calls)
    assert {row["whole"] for row in rows(folder, "judge_scores")} == {True}
    rebuilt = rebuild(folder)
    assert rebuilt.n_same["judges"] > 100
    assert not [line for line in rebuilt.skipped if "judge" in line]
    changed(
        folder,
        "judge_calls",
        lambda found: next(c for c in found if c["marks"])["marks"].pop(),
    )
    with pytest.raises(GenieError, match=r"judge_calls\.jsonl, question .* marks"):
        rebuild(folder)


def test_which_instances_were_judged_is_not_told_by_judges_either(run, task, tmp_path):
    Campaign.objects.filter(pool=task.slug).update(state="RUNNING")
    folder = make(task, tmp_path / "running").folder
    assert not (folder / "judge_calls.jsonl").exists()
    assert not (folder / "judge_answers.jsonl").exists()
    assert {str(row["per_instance"]) for row in rows(folder, "judge_scores")} == {"[]"}
    assert any("judges' scores" in line for line in rebuild(folder).skipped)


def test_what_was_written_about_texts_goes_out_only_with_the_texts(run, task, tmp_path):
    folder = make(task, tmp_path / "closed", texts=False).folder
    assert "Scripted" not in everything(folder)
    rebuilt = rebuild(folder)
    assert rebuilt.n_same["judges"]
    assert any("Judges' full answers" in line for line in rebuilt.skipped)


def test_what_was_written_about_hidden_references_does_not_go_out(
    task, monkeypatch, tmp_path
):
    task.instances.update(references=[SECRET])
    task.hidden_references = True
    task.config["human"].update(design="direct-assessment")
    task.save()
    honest = scripted.answer
    monkeypatch.setattr(
        scripted,
        "answer",
        lambda *of: honest(*of).replace("Scripted", f"Unlike {SECRET}"),
    )
    done(judge_of(), task, with_references=True)
    folder = make(task, tmp_path / "hidden", texts=True).folder
    assert SECRET not in everything(folder)
    assert rebuild(folder).n_same["judges"]


@pytest.mark.skipif(not available(), reason="DuckDB is not installed")
def test_judges_come_out_of_parquet_too(folder, task, tmp_path):
    whole = make(task, tmp_path / "parquet", parquet=True).folder
    for name in ("judge_calls", "judge_answers", "judges", "judge_licences"):
        for end in ("jsonl", "csv"):
            (whole / f"{name}.{end}").unlink()
    assert rebuild(whole).n_same["judges"] == rebuild(folder).n_same["judges"]
