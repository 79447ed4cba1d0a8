"""`manage.py check` says early what would fail late."""

from __future__ import annotations

import shutil

import pytest
from django.core.checks import run_checks

from genie.lib.errors import GenieError
from leaderboard import tasks
from leaderboard.services import load


def ours():
    return [found for found in run_checks() if str(found.id).startswith("genie.")]


def test_as_it_is_delivered_nothing_is_wrong():
    assert ours() == []


@pytest.mark.parametrize(
    ("name", "value", "number", "words"),
    [
        ("CAMPAIGN_ZONE", "Mars/Olympus", "E001", "Mars/Olympus"),
        ("CAMPAIGN_ZONE", "", "E001", "no time zone"),
        ("CAMPAIGN_ZONE", "../../etc/passwd", "E001", "no time zone"),
        ("CAMPAIGN_HOUR", 24, "E002", "24"),
        ("HOLIDAYS", ["2026-12-25", "25.12.2026"], "E003", "25.12.2026"),
        ("HOLIDAYS", ["2026-02-30"], "E003", "2026-02-30"),
        ("DETECTOR", "tea-leaves", "E004", "tea-leaves"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings, name, value, number, words):
    settings.GENIE = {**settings.GENIE, name: value}
    found = ours()
    assert [one.id for one in found] == [f"genie.{number}"]
    assert words in found[0].msg


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a copy of one task's folder, as the only one there is."""
    copy = tmp_path / "demo-qa"
    shutil.copytree(tasks.folder("demo-qa"), copy)
    monkeypatch.setattr(tasks, "FOLDER", tmp_path)
    return copy


def edit(folder, old, new):
    path = folder / "task.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('reader = "demo-jsonl"', 'reader = "tape"', "release.reader"),
        ('design = "direct-assessment"', 'design = "séance"', "human.design"),
        ('scale = "likert-5"', 'scale = "likert-99"', "human.scale"),
        ('hit_template = "question-answering"', "", "human.hit_template"),
    ],
)
def test_a_task_that_asks_for_what_is_not_there_is_an_error(folder, old, new, key):
    edit(folder, old, new)
    found = ours()
    assert [one.id for one in found] == ["genie.E006"]
    assert key in found[0].msg


DIRECT = 'design = "direct-assessment"\nscale = "likert-5"\nhit_template = "question-answering"'


def asking(design, scale, template, *more):
    lines = [
        f'design = "{design}"',
        f'scale = "{scale}"',
        f'hit_template = "{template}"',
    ]
    return "\n".join([*lines, *more])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (asking("direct-assessment", "slider-100", "question-answering"), "answered on likert-5, not on slider-100"),
        (asking("preference", "preference-5", "question-answering"), "shows several outputs, the HIT template question-answering one"),
        (asking("slider", "slider-100", "two-choice-outputs"), "shows one output, the HIT template two-choice-outputs several"),
        (asking("plain-magnitude", "magnitude", "likert-6-judgement"), "does not show"),
        (asking("likert-6", "likert-6", "magnitude-judgement"), "does not give"),
        (asking("error-spans", "slider-100", "slider-translation"), "but not in the HIT template"),
        (asking("slider", "slider-100", "error-span-translation"), "not marked in the design slider"),
        (asking("rankme", "magnitude", "rankme-outputs"), "belongs in [comparison] or [joint]"),
        (DIRECT + '\nbefore_text = ["beauty"]', "names 'beauty', a criterion that is not asked"),
        (DIRECT + "\nsetup = 3", "setup must be 1 or 2"),
        (DIRECT + "\nsetup = 2\n[comparison]\ndesign = 'binary'", "[comparison] the design binary"),
        (DIRECT + "\n[comparison.criteria]\n'a@b' = 'Which?'", "or have @ in its name"),
        (DIRECT + "\n[comparison.criteria]\nright = 'Which is right?'\nclear = 'Which is clearer?'", "add test_criteria = { positive = [...], negative = [...] }"),
        (DIRECT + "\ntest_criteria = { negative = ['beauty'], positive = ['overall'] }", "test_criteria.negative names 'beauty', a criterion that is not asked"),
        (DIRECT + "\ntest_criteria = { negative = 'overall' }", "test_criteria.negative is not a list"),
        (DIRECT + "\nnoisy_below = 80", "noisy_below is a share of right answers between 0 and 1"),
        (DIRECT + "\nnoisy_below = { neutral = 0.5 }", "noisy_below is a share of right answers between 0 and 1"),
        (DIRECT + "\ntest_criteria = ['overall']", "test_criteria is a table with the lists positive and negative"),
        (DIRECT + "\ntest_criteria = { negative = ['overall'] }", "test_criteria.positive names no criterion that can be marked"),
        (DIRECT + "\n[joint]\nscale = 'two-choice'", "[joint] the scale two-choice compares two"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said_before_anybody_is_asked(
    folder, db, asked, words
):
    cut = asked.partition("\n[")
    edit(folder, DIRECT, cut[0])
    if cut[1]:
        path = folder / "task.toml"
        path.write_text(path.read_text() + "\n[" + cut[2], encoding="utf-8")
    found = ours()
    assert {one.id for one in found} == {"genie.E007"}
    assert words in found[0].msg
    assert found[0].msg.startswith("demo-qa/task.toml: [")
    with pytest.raises(GenieError) as refused:
        load.load_task("demo-qa")
    assert (refused.value.code, refused.value.message) == (
        "unusable-task",
        found[0].msg,
    )


def test_a_task_with_several_criteria_says_which_of_them_tests_are_marked_on(
    folder, db
):
    edit(folder, "[human.criteria]", "[human.criteria]\nclear = 'Is it clear?'")
    [found] = ours()
    assert (found.id, found.msg) == (
        "genie.E007",
        "demo-qa/task.toml: [human] several criteria are asked (clear, overall), and a "
        "test question can be right on one and wrong on another: add test_criteria = "
        "{ positive = [...], negative = [...] } with the criteria on which a reference "
        "is good, and those on which another instance's reference is bad.",
    )
    with pytest.raises(GenieError) as refused:
        load.load_task("demo-qa")
    assert refused.value.message == found.msg
    said = 'test_criteria = { positive = ["clear", "overall"], negative = ["overall"] }'
    edit(folder, DIRECT, f"{DIRECT}\n{said}")
    assert ours() == []
    load.load_task("demo-qa")
    # nothing to mark is fine where nothing is asked
    edit(folder, 'negative = ["overall"]', "negative = []")
    assert "or set negative_share = 0" in ours()[0].msg
    edit(folder, "negative_share = 0.25", "negative_share = 0")
    assert ours() == []


@pytest.mark.parametrize(
    "asked",
    [
        asking("binary", "binary", "binary-judgement"),
        asking("likert-6", "likert-6", "likert-6-judgement"),
        asking("slider", "slider-100", "slider-translation"),
        asking("error-spans", "slider-100", "error-span-translation"),
        asking("plain-magnitude", "magnitude", "magnitude-judgement"),
        asking("preference", "preference-5", "preference-summarization"),
        asking("preference", "two-choice", "two-choice-outputs", "allow_tie = true"),
    ],
)
def test_what_goes_together_is_no_trouble(folder, asked):
    edit(folder, DIRECT, asked)
    assert ours() == []


def test_a_metric_that_is_not_there_is_only_missed(folder):
    edit(folder, 'use = ["sacrebleu"', 'use = ["tarot", "sacrebleu"')
    assert [(one.id, "tarot" in one.msg) for one in ours()] == [("genie.W001", True)]


@pytest.mark.parametrize("text", ["slug = ", 'slug = "demo-qa"'])
def test_a_broken_task_folder_is_named(folder, text):
    (folder / "task.toml").write_text(text)
    found = ours()
    assert [one.id for one in found] == ["genie.E005"]
    assert found[0].msg.startswith("demo-qa/task.toml")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("qualification_test = { pass_mark = 3 }", "no setting pass_mark"),
        ("requirements = { aproved = 3 }", "unknown requirement: aproved"),
        ("requirements = { approved_percent = 101 }", "cannot exceed 100"),
    ],
)
def test_what_workers_must_have_is_said_to_be_wrong_before_it_is_required(
    folder, asked, words
):
    edit(folder, DIRECT, f"{DIRECT}\n{asked}")
    found = ours()
    assert [one.id for one in found] == ["genie.E008"]
    assert words in found[0].msg
    edit(folder, asked, "qualification_test = true\nrequirements = { approved = 9 }")
    assert ours() == []
