"""A task.toml is read into one object: defaults, what is taken over, what is wrong."""

import json
from dataclasses import fields, is_dataclass

import pytest
from django.conf import settings

from crowd.hit_templates import all_templates
from leaderboard.models import Task
from leaderboard.tasks import shipped
from leaderboard.tasks.config import (
    BudgetConfig,
    ComparisonConfig,
    HumanConfig,
    JointConfig,
    JudgesConfig,
    LanguageConfig,
    MetricsConfig,
    NoisyBelow,
    QualificationConfig,
    QuotaConfig,
    ReleaseConfig,
    RequirementsConfig,
    StudyConfig,
    TaskConfig,
    TestCriteria,
    read_task,
)
from leaderboard.tasks.config.kinds import (
    Place,
    any_value,
    free_table,
    names,
    one_of,
    settings_of,
    share,
    table_of,
    text,
    truth,
    whole,
)
from leaderboard.tasks.config.task import SourceConfig
from tests.factories import make_task

HUMAN = {
    "design": "direct-assessment",
    "scale": "likert-5",
    "hit_template": "summarization",
    "sample_size": 30,
    "reward_cents": 9,
    "criteria": {"overall": "Is it good?"},
}
SMALL = {
    "slug": "small",
    "title": "Small",
    "kind": "summarization",
    "release": {"reader": "demo-jsonl"},
    "fields": {"source": "Original"},
    "metrics": {"use": ["chrf"]},
    "human": HUMAN,
}


def read(human=None, **tables):
    document = {**SMALL, "human": {**HUMAN, **(human or {})}, **tables}
    found = read_task(document, all_templates())
    return found.config, list(map(str, found.problems))


@pytest.mark.parametrize("slug", shipped.known_tasks())
def test_nothing_is_wrong_with_the_tasks_that_come_along(slug):
    found = read_task(shipped.definition(slug), all_templates())
    assert found.problems == []
    assert found.config.slug == slug


def test_a_task_says_little_and_the_rest_is_as_usual():
    config, wrong = read()
    assert wrong == []
    human = config.human
    assert (human.platform, human.exposure) == ("selfhosted", "task")
    assert (human.positive_share, human.negative_share) == (0.05, 0.05)
    assert (human.repost_share, human.ratings_per_instance) == (0.1, 1)
    assert (config.quota.submissions, config.quota.days) == (3, 7)
    assert config.metrics.headline == ("chrf",)
    assert config.comparison.wave_size == 20
    assert human.form(human.criteria) == {}
    assert read({"noisy_below": 0.9})[0].human.noisy_below == NoisyBelow(0.9, 0.9)


def test_a_method_fixes_settings_and_refuses_others():
    config, wrong = read({"anchor_share": 0}, method="genie-2022")
    assert wrong == []
    assert (config.human.test_questions, config.human.estimate) == (
        "references",
        "plain",
    )
    assert (config.detector, read()[0].detector) == ("class-learned-2", "")
    said = 'contradicts method = "genie-2022"; leave out one of them.'
    for name, value in (("scale", "slider-100"), ("noisy_below", 0.8)):
        assert read({name: value}, method="genie-2022")[1] == [f"human.{name}: {said}"]
    assert "genie-2022" in read(method="genie")[1][0]


@pytest.mark.parametrize(
    ("kind", "what", "right", "wrong"),
    [
        (text(3), "a text of at most 3 characters", ["", "abc"], ["abcd", 7]),
        (text(filled=True), "a text that is not empty", ["a" * 999], ["", " "]),
        (whole(1, 3), "a whole number from 1 to 3", [1, 3], [0, 4, True, 2.0]),
        (whole(), "a whole number of at least 0", [0, 10**9], [-1]),
        (share(), "a number from 0 to 1, such as 0.9", [0, 0.5, 1], [-0.1, 1.1, True]),
        (share(open_ends=True), "a number between 0 and 1, such as 0.9", [0.1], [0, 1]),
        (truth(), "true or false", [True, False], [0, "true"]),
        (one_of(("a", 1), "a"), "'a' or 1", ["a", 1], ["b", True, 1.0]),
        (names("criteria"), "a list of criteria", [[], ["a"]], ["a", ["a", "a"], [7]]),
        (free_table("labels", text()), "a table of labels", [{"a": "b"}], [{"a": 7}, ["a"]]),
        (any_value(), "a value", [[1], None], []),
        (table_of(QuotaConfig), "a table", [], [7]),
    ],
)  # fmt: skip
def test_limits_are_allowed_and_what_is_beyond_them_is_named(kind, what, right, wrong):
    assert kind.what == what
    for value in right:
        place = Place("key", [])
        found = kind.read(value, place)
        assert (list(found) if isinstance(value, list) else found) == value
        assert place.problems == []
    for value in wrong:
        place = Place("key", [])
        kind.read(value, place)
        assert len(place.problems) == 1


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        (7, "metrics: must be a table, not 7."),
        ({"use": ["chrf"], "headline": ["rouge1"]}, "metrics.headline: names 'rouge1', which `use` does not name."),
        ({"use": ["chrf"], "chrf": 7}, "metrics.chrf: there is no such key; there are use, headline."),
    ],
)  # fmt: skip
def test_metrics_that_cannot_be_read_are_named(metrics, said):
    assert read(metrics=metrics)[1] == [said]


def test_comparisons_take_over_whom_they_ask_and_not_how():
    config, wrong = read(
        {
            "platform": "panel",
            "negative_share": 0.25,
            "assignment_minutes": 7,
            "setup": 2,
            "allow_tie": True,
            "before_text": ["overall"],
        },
        comparison={"reward_cents": 4},
        joint={"criteria": {"beauty": "How beautiful is it?"}},
    )
    assert wrong == []
    for table in (config.comparison, config.joint):
        assert (table.platform, table.negative_share) == ("panel", 0.25)
        assert (table.assignment_minutes, table.sample_size) == (7, 30)
        assert (table.setup, table.allow_tie, table.before_text) == (1, False, ())
    assert config.comparison.design == "two-choice"
    assert list(config.comparison.criteria.values()) == ["Which text is better?"]
    assert (config.comparison.reward_cents, config.joint.reward_cents) == (4, 9)
    assert list(config.joint.criteria) == ["beauty"]


def test_a_translation_is_shown_beside_a_reference_unless_told_otherwise():
    assert not read()[0].human.show_reference
    translation = read(kind="translation")[0]
    assert translation.human.show_reference
    assert translation.comparison.show_reference
    without = read({"show_reference": False}, kind="translation")[0]
    assert not without.human.show_reference


def test_an_hit_template_brings_questions_and_how_they_are_marked():
    template = all_templates()["rankme-outputs"]
    assert dict(read()[0].joint.criteria) == dict(template.questions)
    several = next(one for one in all_templates().values() if one.test_criteria)
    first = next(iter(several.questions))
    said = {"hit_template": several.slug, "criteria": dict(several.questions)}
    marked = read(said)[0].human.test_criteria
    assert set(marked.negative) == set(several.test_criteria["negative"])
    other = {**said, "criteria": {**said["criteria"], "other": "And that?"}}
    assert read(other)[0].human.test_criteria is None
    one = read({**said, "criteria": {first: "This?"}})[0].human.test_criteria
    for kind in ("positive", "negative", "form"):
        marks = several.test_criteria.get(kind, ())
        assert list(getattr(one, kind)) == [name for name in marks if name == first]


def test_the_form_of_a_campaign_has_what_is_said_of_its_criteria():
    human = read(
        {
            "setup": 2,
            "criteria": {"true": "Is it true?", "fluent": "Is it fluent?"},
            "show_input": {"fluent": False},
            "before_text": [],
        }
    )[0].human
    first, second = human.separate()
    assert human.form(first) == {"setup": 2, "show_input": {}}
    assert human.form(second) == {"setup": 2, "show_input": {"fluent": False}}
    assert human.judged_blind(second)
    assert not human.judged_blind(first)


def test_an_empty_configuration_is_one_too(db):
    task = Task(slug="bare", title="Bare", kind="translation", config={})
    assert (task.sample_size, task.field_labels, task.source_field) == (0, {}, "")
    assert task.human.show_reference
    assert task.configuration.quota.submissions == 3


@pytest.mark.every_engine
def test_a_task_follows_its_column_and_is_read_once(db):
    task = make_task(n_instances=3)
    before = task.configuration
    assert task.configuration is before
    assert Task.objects.get(pk=task.pk).configuration is before
    task.config["human"]["reward_cents"] = 90
    assert (before.human.reward_cents, task.human.reward_cents) == (9, 90)


def test_the_column_is_as_it_was_loaded(db):
    task = make_task(n_instances=3)
    text = json.dumps(task.config)
    assert task.configuration
    assert json.dumps(Task.objects.get(pk=task.pk).config) == text


TABLES = {
    "": TaskConfig,
    "release": ReleaseConfig,
    "source": SourceConfig,
    "metrics": MetricsConfig,
    "human": HumanConfig,
    "human.noisy_below": NoisyBelow,
    "human.qualification_test": QualificationConfig,
    "human.languages.LANGUAGE": LanguageConfig,
    "human.requirements": RequirementsConfig,
    "human.study": StudyConfig,
    "human.test_criteria": TestCriteria,
    "comparison": ComparisonConfig,
    "joint": JointConfig,
    "quota": QuotaConfig,
    "budget": BudgetConfig,
    "judges": JudgesConfig,
}


def as_written(one):
    if one.required:
        return "required"
    if is_dataclass(one.default) or one.default is None or one.default in ((), {}, ""):
        return ""
    return f"`{json.dumps(one.default)}`"


def reference():
    """Yield each key with its default as the documentation's table begins with them."""
    for table, kind in TABLES.items():
        takes_over = kind in (ComparisonConfig, JointConfig)
        usual = settings_of(HumanConfig) if takes_over else {}
        for name, one in settings_of(kind).items():
            key = f"{table}.{name}" if table else name
            is_table = name in TABLES or key == "metrics.parameters"
            if is_table or (name in usual and usual[name].default == one.default):
                continue
            yield [f"`{key}`", as_written(one)]


def test_the_documentation_has_every_key_with_its_default():
    text = (settings.BASE_DIR / "docs/task-toml.md").read_text("utf-8")
    table = text.partition("| key | if left out | meaning |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")] for row in table.splitlines()[1:]]
    assert [row[1:3] for row in rows] == list(reference())
    assert all(row[3] for row in rows)


def test_every_table_of_the_configuration_is_in_the_documentation():
    named = {
        type(getattr(TaskConfig(), one.name))
        for one in fields(TaskConfig)
        if is_dataclass(getattr(TaskConfig(), one.name))
    }
    assert named <= set(TABLES.values())
