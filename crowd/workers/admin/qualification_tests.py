from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Model, Q
from django.http import HttpRequest
from django.utils.html import format_html_join

from crowd.workers.models.qualification_attempt import (
    AttemptAnswer,
    QualificationGrant,
    TestAttempt,
)
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.services import qualification_tests as service
from crowd.workers.services import test_attempts
from crowd.workers.services.known_answers import CHOICE
from genie.accounts.task_admin import BY_TASK, EditedOfTask, OfTask
from genie.lib.admin import (
    DELETE,
    AsksWhy,
    ReadOnlyAdmin,
    ReadOnlyInline,
    plainly,
)
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.utils.safestring import SafeString

State = QualificationTest.State
LABELS = {
    "n_asked": "Questions per attempt",
    "pass_percent": "Pass mark, in percent",
    "n_tries": "Attempts",
    "wait_hours": "Hours between attempts",
    "valid_days": "Valid for, in days",
    "asks_again": "Workers must pass again",
}


class QuestionForm(forms.ModelForm):  # type: ignore[type-arg]
    right = forms.IntegerField(
        min_value=1,
        required=False,
        label="Right answer",
        help_text="The number of its line, starting from 1. Drawn questions have their own.",
    )

    class Meta:
        model = QualificationQuestion
        fields = ["position", "text", "choices", "explanation", "translations"]
        widgets = {
            "text": forms.Textarea(attrs={"rows": 3, "cols": 50}),
            "choices": forms.Textarea(attrs={"rows": 4, "cols": 40}),
            "explanation": forms.Textarea(attrs={"rows": 3, "cols": 50}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if CHOICE in self.instance.expected:
            self.initial["right"] = int(self.instance.expected[CHOICE]) + 1

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance.data is not None or self.errors:
            return cleaned
        right = cleaned.get("right")
        self.instance.expected = {} if right is None else {CHOICE: right - 1}
        self.instance.text = cleaned.get("text", "")
        self.instance.choices = cleaned.get("choices", "")
        if problem := service.problem_of(self.instance, None):
            raise forms.ValidationError(f"The question {problem}.")
        return cleaned


class QuestionInline(admin.StackedInline):  # type: ignore[type-arg]
    model = QualificationQuestion
    form = QuestionForm
    extra = 0
    readonly_fields = ["drawn_texts"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        editable = self.has_change_permission(request, obj)
        right = "right" if editable else "right_in_words"
        first = ["position", "drawn_texts", "text", "choices"]
        names = [*first, right, "explanation", "translations"]
        return names if editable else plainly(self.model, names)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["drawn_texts", "right_in_words"]

    @admin.display(description="drawn")
    def drawn_texts(self, question: QualificationQuestion) -> SafeString | str:
        if question.data is None:
            return "written by hand"
        data = question.data
        rows = [(part["label"], part["text"]) for part in data.get("fields", [])]
        rows += [
            (name, data[name])
            for name in ("reference", "standard", "prediction")
            if data.get(name)
        ]
        rows += [
            (f"output {output['slot']}", output["text"])
            for output in data.get("outputs") or []
        ]
        rows.append(("right answer", _right(question)))
        return format_html_join("", "<p><strong>{}</strong><br>{}</p>", rows)

    @admin.display(description="right answer")
    def right_in_words(self, question: QualificationQuestion) -> str:
        return _right(question)


def _right(question: QualificationQuestion) -> str:
    expected = question.expected
    if CHOICE in expected:
        return question.answers[int(expected[CHOICE])]
    if "slot" in expected:
        return f"prefers {expected['slot']}"
    return "good" if expected.get("good") else "not good"


@admin.register(QualificationTest)
class QualificationTestAdmin(EditedOfTask, AsksWhy):
    """A draft can be changed; a published test cannot, so that scores stay comparable."""

    list_display = [
        "__str__",
        "name",
        "pool",
        "state",
        "n_questions",
        "n_tried",
        "n_passed",
        "published_at",
    ]
    list_filter = ["state", BY_TASK]
    search_fields = ["name", "title"]
    inlines = [QuestionInline]
    actions = [
        Action(
            "publish_selected",
            "Publish the selected drafts …",
            title="Publish tests",
            sentence=(
                "Workers can take these tests. They can no longer be changed, and their "
                "previous versions are retired."
            ),
            button="Publish",
            allowed=Q(state=State.DRAFT),
            otherwise="Not a draft: {n_left}.",
            left="Not a draft: {n_left}.",
            service=lambda test, by, reason: (
                service.publish(test.pk, by, reason) and f"Published: {test}."
            ),
        ),
        Action(
            "retire_selected",
            "Retire the selected tests …",
            title="Retire tests",
            sentence=(
                "Workers can no longer take them; granted qualifications stay valid."
            ),
            button="Retire",
            service=lambda test, by, reason: service.retire(test.pk, by, reason),
            done="Retired {n}.",
        ),
        Action(
            "copy_selected",
            "Copy the selected tests to drafts of new versions …",
            title="Copy tests",
            sentence="The versions in use do not change.",
            button="Copy",
            service=lambda test, by, reason: (
                f"Copied: {service.new_version(test.pk, by, reason)}."
            ),
        ),
        DELETE,
    ]
    fields = [
        "title",
        "name",
        "pool",
        "introduction",
        "translations",
        "n_asked",
        "pass_percent",
        "n_tries",
        "wait_hours",
        "valid_days",
        "asks_again",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[QualificationTest]:
        rows: QuerySet[QualificationTest] = super().get_queryset(request)
        return rows.annotate(
            n_q=Count("questions", distinct=True),
            n_all=Count("attempts", distinct=True),
            n_ok=Count("attempts", filter=Q(attempts__passed=True), distinct=True),
        )

    @admin.display(description="questions")
    def n_questions(self, test: Any) -> int:
        return int(test.n_q)

    @admin.display(description="attempts")
    def n_tried(self, test: Any) -> int:
        return int(test.n_all)

    @admin.display(description="passed")
    def n_passed(self, test: Any) -> int:
        return int(test.n_ok)

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        fixed = isinstance(obj, QualificationTest) and obj.state != State.DRAFT
        return not fixed and super().has_change_permission(request, obj)

    def may_delete(self, row: Model) -> bool:
        return isinstance(row, QualificationTest) and row.state == State.DRAFT

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        editable = self.has_change_permission(request, obj)
        return self.fields if editable else plainly(self.model, self.fields)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["name"] if obj else []

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return super().get_form(request, obj, change=change, labels=LABELS, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: QualificationTest, form: Any, change: bool
    ) -> None:
        if not change:
            obj.version = service.next_version(obj.name)
            obj.seed = service.seed_of(obj.name, obj.version)
        super().save_model(request, obj, form, change)


class AnswerInline(ReadOnlyInline):
    model = AttemptAnswer
    fields = readonly_fields = ("position", "question", "given", "right", "answered_at")


@admin.register(TestAttempt)
class TestAttemptAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("test__pool_id",)
    list_display = ["worker", "test", "number", "n_right", "passed", "started_at", "finished_at", "next_try_at"]  # fmt: skip
    list_filter = ["passed", "test__name"]
    list_select_related = ["worker", "test"]
    search_fields = ["worker__pseudonym"]
    ordering = ["-pk"]
    inlines = [AnswerInline]


@admin.register(QualificationGrant)
class QualificationGrantAdmin(ReadOnlyAdmin):
    list_display = ["worker", "name", "version", "who", "granted_at", "expires_at", "ended_at", "revoked_reason"]  # fmt: skip
    list_filter = ["name", ("ended_at", admin.EmptyFieldListFilter)]
    list_select_related = ["worker", "granted_by"]
    search_fields = ["worker__pseudonym", "name"]
    actions = [
        Action(
            "revoke_selected",
            "Revoke the selected qualifications …",
            title="Revoke qualifications",
            sentence=(
                "These workers get no more work that requires the qualification and "
                "cannot take the test again, unless you grant it by hand. They read "
                "the reason."
            ),
            button="Revoke",
            allowed=Q(ended_at=None),
            otherwise="None of them is in force.",
            service=lambda grant, by, reason: test_attempts.revoke(
                grant.pk, by=by, reason=reason
            ),
            done="Revoked: {n}.",
        )
    ]

    @admin.display(description="granted by", empty_value="the test")
    def who(self, grant: QualificationGrant) -> str | None:
        return grant.granted_by.get_username() if grant.granted_by else None
