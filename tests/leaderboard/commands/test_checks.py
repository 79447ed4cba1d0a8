"""`manage.py check` says early what would fail late."""

import shutil

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from genie.lib.errors import GenieError
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from tests.nets.conftest import tell


def ours():
    made = [found for found in run_checks() if str(found.id).startswith("genie.")]
    for one in made:
        tell(f"{one.id}: {one.msg} {one.hint or ''}")
    return made


def test_as_it_is_delivered_nothing_is_wrong():
    assert ours() == []


@pytest.mark.parametrize(
    ("name", "value", "number", "words"),
    [
        ("CAMPAIGN_ZONE", "Mars/Olympus", "E001", "Mars/Olympus"),
        ("CAMPAIGN_ZONE", "", "E001", "not a time zone"),
        ("CAMPAIGN_ZONE", "../../etc/passwd", "E001", "not a time zone"),
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
    copy = tmp_path / "demo-qa"
    shutil.copytree(shipped.folder("demo-qa"), copy)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    return copy


def edit(folder, old, new):
    path = folder / "task.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


DIRECT = 'design = "direct-assessment"\nscale = "likert-5"\nhit_template = "question-answering"'


def asking(design, scale, template, *more):
    lines = [
        f'design = "{design}"',
        f'scale = "{scale}"',
        f'hit_template = "{template}"',
    ]
    return "\n".join([*lines, *more])


def ask(folder, asked):
    """Let the task ask so; what stands below another table goes to the end."""
    cut = asked.partition("\n[")
    edit(folder, DIRECT, cut[0])
    if cut[1]:
        path = folder / "task.toml"
        path.write_text(path.read_text() + "\n[" + cut[2], encoding="utf-8")


def refused(folder):
    with pytest.raises(GenieError) as refusal:
        load.load_task("demo-qa")
    assert refusal.value.code == "unusable-task"
    return [
        f"demo-qa/task.toml: {key}: {sentence}"
        for key, sentence in refusal.value.details["problems"]
    ]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (asking("direct-assessment", "slider-100", "question-answering"), "human.scale: the design direct-assessment works with the scale likert-5, not slider-100"),
        (asking("preference", "preference-5", "question-answering"), "human.hit_template: the design preference shows several outputs, the HIT template question-answering one"),
        (asking("slider", "slider-100", "two-choice-outputs"), "shows one output, the HIT template two-choice-outputs several"),
        (asking("plain-magnitude", "magnitude", "likert-6-judgement"), "does not show"),
        (asking("likert-6", "likert-6", "magnitude-judgement"), "does not provide"),
        (asking("error-spans", "slider-100", "slider-translation"), "but not in the HIT template"),
        (asking("slider", "slider-100", "error-span-translation"), "not marked in the design slider"),
        (asking("rankme", "magnitude", "rankme-outputs"), "belongs in [comparison] or [joint]"),
        (DIRECT + '\nbefore_text = ["beauty"]', "human.before_text: names 'beauty', which is not one of the criteria"),
        (DIRECT + "\nsetup = 2\n[comparison]\ndesign = 'binary'", "comparison.design: the design binary"),
        (DIRECT + "\n[comparison.criteria]\n'a@b' = 'Which?'", "comparison.criteria: a criterion cannot be called 'spans' or have @ in its name"),
        (DIRECT + "\n[comparison.criteria]\nright = 'Which is right?'\nclear = 'Which is clearer?'", "add test_criteria = { positive = [...], negative = [...] }"),
        (DIRECT + "\ntest_criteria = { negative = ['beauty'], positive = ['overall'] }", "human.test_criteria.negative: names 'beauty', which is not one of the criteria"),
        (DIRECT + "\ntest_criteria = { negative = ['overall'] }", "human.test_criteria.positive: names no criterion that can be scored"),
        (DIRECT + "\nranks = 'rank-sums'", "human.ranks: tests the ratings themselves by rank sums; it goes with estimate = \"z\" or \"plain\""),
        (DIRECT + "\n[joint]\nscale = 'two-choice'", "joint.scale: the scale two-choice compares two"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_said_before_asking(folder, db, asked, words):
    ask(folder, asked)
    found = ours()
    assert {one.id for one in found} == {"genie.E007"}
    assert words in found[0].msg
    assert refused(folder) == [one.msg for one in found]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("setup = 3", "human.setup: must be 1 or 2, not 3."),
        ("test_criteria = { positive = ['overall'], negative = 'overall' }", "human.test_criteria.negative: is not a list of criteria."),
        ("test_criteria = ['overall']", "human.test_criteria: must be a table, not ['overall']."),
        ("noisy_below = 80", "human.noisy_below: must be a number between 0 and 1, such as 0.9, not 80."),
        ("noisy_below = { neutral = 0.5 }", "human.noisy_below.neutral: there is no such key; there are positive, negative."),
        ("noisy_below = { positive = 1 }", "human.noisy_below.positive: must be a number between 0 and 1, such as 0.9, not 1."),
        ("expected_second = 12", "human.expected_second: there is no such key; did you mean expected_seconds?"),
        ("allow_tie = 'yes'", "human.allow_tie: must be true or false, not 'yes'."),
        ("before_text = ['overall', 'overall']", "human.before_text: names 'overall' twice."),
        ("[comparison]\nwave_size = 0", "comparison.wave_size: must be a whole number from 1 to 1000, not 0."),
        ("[comparison]\nsample_size = 9", "comparison.sample_size: is said in [human] only, for all work of the task."),
        ("ranks = 'ranksums'", "human.ranks: must be 'simultaneous' or 'rank-sums', not 'ranksums'."),
        ("[joint]\nwave_size = 5", "joint.wave_size: there is no such key;"),
        ("[quotas]\ndays = 7", "quotas: there is no such key; did you mean quota?"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named_by_its_key(folder, db, asked, said):
    ask(folder, f"{DIRECT}\n{asked}")
    found = ours()
    assert [one.id for one in found] == ["genie.E005"]
    assert found[0].msg.startswith(f"demo-qa/task.toml: {said}")
    assert refused(folder) == [found[0].msg]


def test_all_that_is_wrong_is_said_at_once(folder, db):
    edit(folder, "reward_cents = 5", "reward_cents = -5\nplatform = 'moon'")
    edit(folder, 'scale = "likert-5"', 'scale = "likert-55"')
    edit(folder, 'title = "School Science (demo)"\n', "")
    edit(folder, 'field = "question"', 'field = "answer"')
    edit(folder, "[quota]", "[metrics.chrf]\nwords = 2\n[quota]")
    edit(folder, "options = {}", "options = { tape = 7 }")
    said = [one.msg.removeprefix("demo-qa/task.toml: ") for one in ours()]
    assert [sentence.partition(":")[0] for sentence in said] == [
        "title",
        "human.reward_cents",
        "source.field",
        "release.options.tape",
        "human.scale",
        "human.platform",
        "metrics.chrf.words",
    ]
    assert [line.partition(": ")[2] for line in refused(folder)] == said
    with pytest.raises(CommandError) as caught:
        call_command("load_task", "demo-qa")
    assert str(caught.value).splitlines()[1:] == [f"  {line}" for line in said]


def test_a_task_with_several_criteria_says_which_tests_are_marked_on(folder, db):
    edit(folder, "[human.criteria]", "[human.criteria]\nclear = 'Is it clear?'")
    [found] = ours()
    assert (found.id, found.msg) == (
        "genie.E007",
        "demo-qa/task.toml: human.test_criteria: there are several criteria (clear, overall), and an "
        "answer to a test question can be right on one and wrong on another: add test_criteria = "
        "{ positive = [...], negative = [...] } with the criteria on which a reference "
        "is good, and those on which another instance's reference is bad.",
    )
    assert refused(folder) == [found.msg]
    said = 'test_criteria = { positive = ["clear", "overall"], negative = ["overall"] }'
    edit(folder, DIRECT, f"{DIRECT}\n{said}")
    assert ours() == []
    load.load_task("demo-qa")
    # nothing to mark is fine where nothing is asked
    edit(folder, 'negative = ["overall"]', "negative = []")
    assert "or set negative_share = 0" in ours()[0].msg
    edit(folder, "negative_share = 0.15", "negative_share = 0")
    assert ours() == []


def test_a_metric_that_is_not_there_is_only_missed(folder):
    edit(folder, 'use = ["sacrebleu"', 'use = ["tarot", "sacrebleu"')
    assert [(one.id, "tarot" in one.msg) for one in ours()] == [("genie.W001", True)]


@pytest.mark.parametrize(
    ("text", "n"), [("slug = ", 1), ('slug = "demo-qa"', 6), ("human = 7", 7)]
)
def test_a_broken_task_folder_is_named(folder, text, n):
    (folder / "task.toml").write_text(text)
    found = ours()
    assert [one.id for one in found] == n * ["genie.E005"]
    assert all(one.msg.startswith("demo-qa/task.toml: ") for one in found)


@pytest.mark.parametrize(
    ("asked", "number", "words"),
    [
        ("qualification_test = { pass_mark = 3 }", "E005", "human.qualification_test.pass_mark: there is no such key; there are n, n_asked, pass_percent,"),
        ("requirements = { aproved = 3 }", "E005", "human.requirements.aproved: there is no such key; did you mean approved?"),
        ("requirements = { approved_percent = 101 }", "E005", "human.requirements.approved_percent: must be a whole number from 0 to 100, not 101."),
        ("requirements = { countries = ['USA'] }", "E008", "human.requirements: the worker requirements cannot be used"),
    ],
)  # fmt: skip
def test_what_workers_must_have_is_said_to_be_wrong_before_it_is_required(
    folder, asked, number, words
):
    edit(folder, DIRECT, f"{DIRECT}\n{asked}")
    found = ours()
    assert [one.id for one in found] == [f"genie.{number}"]
    assert words in found[0].msg
    edit(folder, asked, "qualification_test = true\nrequirements = { approved = 9 }")
    assert ours() == []
