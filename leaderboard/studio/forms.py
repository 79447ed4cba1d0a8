"""The forms for a new task, step by step."""

import copy
from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.text import slugify

from crowd.hit_templates.consent import consent_markdown
from crowd.hit_templates.form import (
    CHECKBOXES,
    MOST_ON_A_PAGE,
    READ_BEFORE,
    READ_CHARACTERS,
)
from crowd.hits.services import platforms
from genie.lib.errors import GenieError
from leaderboard.stats.systems.estimates import Population
from leaderboard.studio.services import own_test, pilot
from leaderboard.studio.services.keep import INVITED, LINK, usual_consent
from leaderboard.studio.services.look import NO_QUESTION, questions_of
from leaderboard.tasks.drafts.ask import KINDS, OVERALL, Ask, offered_designs

N_CRITERIA = 5
CONSENT = consent_markdown().strip()
_in_dollars = partial(forms.DecimalField, min_value=0, max_value=100, decimal_places=2)
_to_read = partial(forms.CharField, max_length=READ_CHARACTERS, required=False)
_CODE = "Its code: en, de, zh. If empty, it is guessed from the texts."
_PLATFORMS = {
    "prolific": "Prolific",
    "panel": "A panel",
    "mturk": "Mechanical Turk, or a compatible site",
}


def who_rates() -> list[tuple[str, str]]:
    return [
        (LINK, "My colleagues, with a link"),
        (INVITED, "My own pool: people with an account here"),
        *((slug, words) for slug, words in _PLATFORMS.items() if _set_up(slug)),
    ]


def _set_up(slug: str) -> bool:
    if slug not in settings.GENIE.get("PLATFORMS", {}):
        return False
    try:
        platforms.connect(slug)
    except GenieError:
        return False
    return True


class NewForm(forms.Form):
    title = forms.CharField(max_length=200, label="Name of the task")
    slug = forms.SlugField(
        max_length=100,
        required=False,
        label="Address",
        help_text="Lower-case letters, digits and hyphens. If empty, it is made from the "
        "name.",
    )

    def clean(self) -> None:
        cleaned = self.cleaned_data
        slug = slugify(cleaned.get("slug") or cleaned.get("title", ""))
        cleaned["slug"] = slug.replace("_", "-").strip("-")[:100]
        if cleaned.get("title") and not cleaned["slug"]:
            self.add_error(
                "slug", "Enter an address, because the name has no letters for one."
            )


class NewStudyForm(NewForm):
    who = forms.ChoiceField(
        choices=who_rates, label="Who rates?", widget=forms.RadioSelect, initial=LINK
    )


def _designs() -> list[tuple[str, str]]:
    return [
        ("", "As the question suggests"),
        *((one.slug, one.label or one.slug) for one in offered_designs().values()),
    ]


class AskForm(forms.Form):
    first = ("design", "instructions")
    design = forms.ChoiceField(
        choices=_designs,
        required=False,
        label="How do raters answer?",
        help_text="“It is true.” suggests agreement, “How good is it?” a slider, “Which is "
        "better?” two systems side by side.",
    )
    kind = forms.CharField(
        max_length=50,
        required=False,
        label="Kind of task",
        help_text=f"In your own words. These kinds have special pages: {', '.join(KINDS)}.",
    )
    summary = forms.CharField(
        max_length=300, required=False, label="The systems' task, in one sentence"
    )
    instructions = _to_read(
        label="Instructions",
        help_text="Markdown. Raters read them before they start. If empty, the standard "
        "instructions are used.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    consent = _to_read(
        label="Consent of raters",
        help_text="Markdown. Change this site’s text as your ethics board requires. Each "
        "version that a rater agreed to is kept.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    checkboxes = forms.MultipleChoiceField(
        choices=list(CHECKBOXES.items()),
        required=False,
        label="Checkboxes next to the questions",
        widget=forms.CheckboxSelectMultiple,
    )
    allow_tie = forms.BooleanField(
        required=False, label="Raters may answer that two systems are equally good"
    )
    together = forms.BooleanField(
        required=False, label="Ask for magnitudes of all criteria on one page"
    )
    source_language, target_language = (
        forms.CharField(
            max_length=16,
            required=False,
            label=f"Language of the {side}",
            help_text=_CODE,
        )
        for side in ("inputs", "outputs")
    )
    hidden_references = forms.BooleanField(
        required=False, label="Only staff can see references"
    )

    def __init__(self, data: Any, asked: Mapping[str, Any], ask: Ask) -> None:
        self.usual_consent = usual_consent(volunteers=ask.volunteers) or CONSENT
        usual = {**vars(ask), "consent": self.usual_consent}
        said = {name: value for name, value in asked.items() if value or value is False}
        super().__init__(data, initial={**usual, **said})
        for name in ("source_language", "target_language"):
            if about := LANG_INFO.get(str(self[name].value())):
                self[name].help_text = f"{about['name']}. {_CODE}"
        rows = list(asked.get("criteria", [])) or [[OVERALL, "", False]]
        rows += [["", "", False]] * (N_CRITERIA - len(rows))
        for number, (name, question, blind) in enumerate(rows[:N_CRITERIA], 1):
            self.fields[f"name_{number}"] = forms.CharField(
                max_length=40, required=False, initial=name, label="Name"
            )
            self.fields[f"question_{number}"] = forms.CharField(
                max_length=500, required=False, initial=question, label="Question"
            )
            self.fields[f"blind_{number}"] = forms.BooleanField(
                required=False, initial=blind, label="rated without the input"
            )

    @property
    def criteria(self) -> list[tuple[int, list[forms.BoundField]]]:
        parts = ("name", "question", "blind")
        return [
            (n, [self[f"{part}_{n}"] for part in parts])
            for n in range(1, N_CRITERIA + 1)
        ]

    @property
    def has_more(self) -> bool:
        return any(
            field.value() or field.errors
            for _, row in self.criteria[2:]
            for field in row
        )

    @property
    def others(self) -> list[forms.BoundField]:
        return [self[name] for name in type(self).base_fields]

    def clean(self) -> None:
        cleaned = self.cleaned_data
        criteria: list[list[Any]] = []
        for number in range(1, N_CRITERIA + 1):
            question = cleaned.pop(f"question_{number}", "")
            name = cleaned.pop(f"name_{number}", "")
            blind = cleaned.pop(f"blind_{number}", False)
            if name and not question and number > 1:
                self.add_error(f"question_{number}", "Enter the question.")
            if question:
                free = f"criterion-{len(criteria) + 1}" if criteria else OVERALL
                key = slugify(name).replace("_", "-") or free
                if key in [row[0] for row in criteria]:
                    self.add_error(f"name_{number}", "This name is already in use.")
                criteria.append([key, question, blind])
        # a published statement is shown from then on
        said = {name: cleaned.get(name, "") for name in ("design", "kind")}
        ask = Ask("", "", {name: question for name, question, _ in criteria}, **said)
        blind = [name for name, _, hides_input in criteria if hides_input]
        criteria = [[*one, one[0] in blind] for one in questions_of(ask).items()]
        if not criteria:
            self.add_error("question_1", NO_QUESTION)
        cleaned["criteria"] = criteria
        for name in READ_BEFORE:
            # Browsers send CR LF.
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
        if cleaned["consent"] == self.usual_consent:
            cleaned["consent"] = ""


# Colleagues are not paid, tested or hidden from.
_OF_PAID = (
    *("reward", "tests_percent", "qualification"),
    *("test_name", "test_n", "pass_percent", "test_questions"),
)


class RewardForm(forms.Form):
    """A form with a reward in dollars, stored in cents."""

    def clean(self) -> None:
        reward = self.cleaned_data.pop("reward", None)
        self.cleaned_data["reward_cents"] = (
            None if reward is None else int(reward * 100)
        )


class PeopleForm(RewardForm):
    first = ("who", "reward", "n_items", "ratings")
    who = copy.copy(NewStudyForm.base_fields["who"])
    reward = _in_dollars(
        required=False,
        label="How many dollars for one output or pair?",
        help_text="If empty, they earn 15 dollars an hour, based on the reading time.",
    )
    n_items = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        required=False,
        label="How many inputs per system?",
        help_text="If empty, all inputs, but at most 300.",
    )
    ratings = forms.IntegerField(
        min_value=1, max_value=50, initial=1, label="How many ratings of each output?"
    )
    tests_percent = forms.IntegerField(
        min_value=0,
        max_value=50,
        required=False,
        label="Hidden test questions (% easy to accept, % easy to reject)",
        help_text="If empty, 5 if there are references and paid workers, otherwise none.",
    )

    items_per_page = forms.IntegerField(
        min_value=1,
        max_value=MOST_ON_A_PAGE,
        required=False,
        label="Outputs or pairs on one page",
        help_text="If empty, 1. On other platforms it is always 1.",
    )
    by_document = forms.BooleanField(
        required=False,
        label="Show only parts of one document on a page, in order",
        help_text="Ids such as “news-12.3” identify the document and its part.",
    )

    qualification = forms.ChoiceField(
        choices=[
            (own_test.NONE, "No test"),
            (own_test.DRAWN, "Drawn from references of inputs that are not rated"),
            (own_test.NAMED, "One of this site’s tests"),
            (own_test.WRITTEN, "Written here"),
        ],
        required=False,
        label="Test that workers must pass first",
    )
    test_name = forms.ChoiceField(
        required=False, label="Which of this site’s tests", choices=[]
    )
    test_n = forms.IntegerField(
        min_value=2,
        max_value=50,
        required=False,
        label="Number of drawn questions",
        help_text="Empty: 8.",
    )
    pass_percent = forms.IntegerField(
        min_value=1,
        max_value=100,
        required=False,
        label="Correct answers needed to pass (%)",
        help_text="For a drawn or written test. If empty, 80.",
    )
    test_questions = forms.CharField(
        max_length=20_000,
        required=False,
        label="Questions written here",
        help_text="Write a question, then each answer on a new line that begins with “-”, "
        "or with “*” if it is correct. A line with “>” has an explanation for "
        "wrong answers, shown after the test. Leave an empty line before the next "
        "question. For German, add the whole test again below a line “[de]”.",
        widget=forms.Textarea(
            attrs={"rows": 8, "placeholder": "Is salt white?\n* Yes\n- No"}
        ),
    )

    def __init__(self, data: Any, people: Mapping[str, Any]) -> None:
        initial = dict(people)
        if people.get("reward_cents") is not None:
            initial["reward"] = Decimal(people["reward_cents"]) / 100
        super().__init__(data, initial=initial)
        fields: Any = self.fields
        fields["test_name"].choices = [("", "–"), *own_test.in_use()]
        if self["who"].value() == LINK:
            for name in _OF_PAID:
                del fields[name]

    def clean(self) -> None:
        super().clean()
        cleaned = self.cleaned_data
        wanted = cleaned.get("qualification", "")
        if wanted == own_test.NAMED and not cleaned.get("test_name"):
            self.add_error("test_name", "Choose a test.")
        if wanted == own_test.WRITTEN:
            try:
                own_test.read(cleaned.get("test_questions", ""))
            except GenieError as error:
                self.add_error("test_questions", error.message)


class LinkForm(forms.Form):
    names = forms.CharField(
        max_length=5_000,
        required=False,
        label="One link for each person",
        help_text="One name per line, or the number of links, such as 3.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    places = forms.IntegerField(
        min_value=2,
        max_value=1000,
        initial=20,
        label="Without names, number of people for one shared link",
    )
    days = forms.IntegerField(
        min_value=1, max_value=365, initial=30, label="Days until it expires"
    )


# The forms for a task's pilot and for later changes.
class ProposalForm(RewardForm):
    reward, n_items, ratings = (
        copy.copy(PeopleForm.base_fields[name])
        for name in ("reward", "n_items", "ratings")
    )


class PilotForm(RewardForm):
    n_items = forms.IntegerField(
        min_value=1, max_value=100, initial=pilot.N_ITEMS, label="Pages"
    )
    n_people = forms.IntegerField(
        min_value=2,
        max_value=20,
        initial=pilot.N_PEOPLE,
        label="Raters, each of whom rates all",
    )
    reward = _in_dollars(
        required=False,
        label="Reward for one page, in dollars",
        help_text="If empty, unpaid, for yourself and colleagues.",
    )
    joins = forms.BooleanField(
        required=False, initial=True, label="I am one of the raters"
    )

    def pilot_size(self, n_inputs: int) -> pilot.Wanted:
        """Return the size and reward; the default if the input is invalid."""
        if not self.is_valid():
            return pilot.Wanted(n_items=min(pilot.N_ITEMS, n_inputs))
        said = self.cleaned_data
        return pilot.Wanted(
            n_items=min(said["n_items"], n_inputs),
            n_people=said["n_people"],
            reward_cents=said["reward_cents"] or 0,
            joins=said["joins"],
        )


RATERS = [
    (Population.LIKE.value, "raters like these, such as a paid crowd or a panel"),
    (Population.THESE.value, "these raters, such as colleagues with a link"),
]
# Texts with names: one a line.
_NAMED = {"criteria", "labels"}


class EditForm(RewardForm):
    title = forms.CharField(max_length=100, label="Name of the task")
    summary = forms.CharField(
        max_length=300, required=False, label="The systems' task, in one sentence"
    )
    description = forms.CharField(
        max_length=4000,
        required=False,
        label="Description",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    raters = forms.ChoiceField(
        choices=RATERS,
        label="Results are about",
        help_text="You can change this until the first rating.",
    )
    reward = _in_dollars(
        label="Reward for one page, in dollars",
        help_text="For new campaigns. A running campaign has its own page.",
    )
    budget = _in_dollars(
        max_value=10_000_000,
        required=False,
        label="Budget of the task, in dollars",
        help_text="Spending limit of all its campaigns together.",
    )
    submissions = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label="Submissions per team",
        help_text="0 means no limit.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=3650, label="Within this many days"
    )
    criteria, labels = (
        _to_read(
            label=label,
            help_text="One per line, in order.",
            widget=forms.Textarea(attrs={"rows": 3}),
        )
        for label in ("Questions", "Labels of the inputs")
    )
    instructions = _to_read(
        label="Instructions",
        help_text="Markdown. If empty, the standard instructions are used.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    reworded = forms.BooleanField(
        required=False,
        label="Only the wording of questions, labels or instructions changes",
        help_text="Required once there are ratings. Methods then show the old and the new "
        "wording. If the meaning changes, create a new version.",
    )
    consent = _to_read(
        label="Consent of workers",
        help_text="Markdown. If you change it, workers are asked again. Each version that a "
        "worker agreed to is kept.",
        widget=forms.Textarea(attrs={"rows": 12}),
    )
    institution, contact, approval, data_kept, withdrawal, debriefing = (
        _to_read(label=label, help_text=help_text)
        for label, help_text in (
            (
                "Institution",
                "Who asks. Required on other platforms, as are the next two.",
            ),
            ("Contact", "Name and address for questions and withdrawals."),
            ("Ethics approval", "Its number, or the reason why none is needed."),
            ("Data retention", ""),
            ("How to withdraw them", ""),
            ("Debriefing", "Workers read it when their work is done."),
        )
    )
    judges_show = forms.BooleanField(
        required=False,
        label="Show means with judges’ help next to people’s",
        help_text="Judges are programs. Their scores appear only with a valid license.",
    )
    judges_rank = forms.BooleanField(
        required=False,
        label="Rank by means with judges’ help",
        help_text="The board says so. Without a valid license, ranks use people’s ratings "
        "alone.",
    )
    because = forms.CharField(max_length=500, required=False, label="Why")

    def __init__(
        self,
        data: Any,
        said: Mapping[str, Any],
        *,
        budget_cents: int | None,
        may_budget: bool,
        only: Collection[str] = (),
    ) -> None:
        self.said = said
        initial = {**said, "reward": Decimal(said["reward_cents"]) / 100}
        initial |= {name: "\n".join(said[name].values()) for name in _NAMED}
        if budget_cents is not None:
            initial["budget"] = Decimal(budget_cents) / 100
        super().__init__(data, initial=initial)
        if not may_budget:
            del self.fields["budget"]
        for name in [*self.fields] if only else ():
            if name not in {*only, "because"}:
                del self.fields[name]

    def clean(self) -> None:
        super().clean()
        cleaned = self.cleaned_data
        budget = cleaned.pop("budget", None)
        said = "budget" in self.changed_data and budget is not None
        cleaned["budget_cents"] = int(budget * 100) if said else None
        if "reward" not in self.fields:
            del cleaned["reward_cents"]
        for name in _NAMED & self.fields.keys():
            lines = map(str.strip, cleaned.pop(name, "").splitlines())
            if (texts := [*filter(None, lines)]) and len(texts) != len(self.said[name]):
                self.add_error(name, "Write one per line, as many as before.")
            elif texts:
                cleaned[name] = dict(zip(self.said[name], texts, strict=True))
        # Browsers send CR LF.
        for name in {"description", "instructions", "consent"} & self.fields.keys():
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
