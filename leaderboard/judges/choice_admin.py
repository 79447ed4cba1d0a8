"""Choices of instances for staff: which judges' disagreement, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from genie.accounts.staff import narrowed, staff_may, staff_may_somewhere
from genie.accounts.task_admin import WorkOfTask
from genie.lib.admin.adding import adding, filled_in
from genie.lib.admin.questions import after_asking
from genie.lib.errors import GenieError
from leaderboard.evaluation.models.instance_choice import InstanceChoice
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.services import choose
from leaderboard.tasks.selectors.chances import chances_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

_MAY_CHOOSE = "leaderboard.add_instancechoice"


class ChoiceForm(forms.Form):
    runs = forms.ModelMultipleChoiceField(
        JudgeRun.objects.filter(state=JudgeRun.State.DONE)
        .select_related("judge", "task")
        .order_by("-pk"),
        help_text="Finished runs on one task about all of its instances: of two judges or "
        "more, or one that asked each question repeatedly.",
    )
    criterion = forms.CharField(
        max_length=50, help_text="On which they are to disagree; one that runs asked."
    )
    because = forms.CharField(
        label="Reason",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="Kept with your name; shown to staff only.",
    )


@admin.register(InstanceChoice)
class InstanceChoiceAdmin(WorkOfTask):
    pool_paths = ("task__slug",)
    needs = {"decide": "leaderboard.change_instancechoice"}
    list_display = ["__str__", "criterion", "by", "at", "undone_at"]
    list_select_related = ["task", "by"]
    fields = [
        *("task", "criterion", "judges", "systems", "n", "chances", "seed"),
        *("by", "because", "at", "undone_by", "undone_because", "undone_at"),
    ]
    readonly_fields = ["judges", "systems", "chances"]
    actions = ["undo_selected"]

    @admin.display(description="judges")
    def judges(self, choice: InstanceChoice) -> str:
        return ", ".join(str(run) for run in choice.runs.order_by("pk"))

    @admin.display(description="systems looked at")
    def systems(self, choice: InstanceChoice) -> str:
        return f"{len(choice.submissions):,}"

    @admin.display(description="chances")
    def chances(self, choice: InstanceChoice) -> str:
        chances = sorted(chances_of(choice.task).values())
        if choice.undone_at or not chances:
            return "–"
        return (
            f"From {chances[0]:.3f} to {chances[-1]:.3f}; equally likely ones would have "
            f"{choice.n / len(chances):.3f}."
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return staff_may_somewhere(request.user, _MAY_CHOOSE)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        account: Any = request.user
        form, right = filled_in(self, request, ChoiceForm)
        field: Any = form.fields["runs"]
        field.queryset = narrowed(field.queryset, account, _MAY_CHOOSE, "task__slug")
        if right:
            said = form.cleaned_data
            runs = list(said["runs"])
            if not all(staff_may(account, _MAY_CHOOSE, r.task.slug) for r in runs):
                raise PermissionDenied
            try:
                choice = choose.choose(
                    runs, said["criterion"], by=account, because=said["because"]
                )
            except GenieError as error:
                form.add_error(None, error.message)
            else:
                self.log_addition(request, choice, f"Chosen: {said['because']}")
                return redirect("admin:leaderboard_instancechoice_change", choice.pk)
        title = "Let people judge the instances on which judges disagree"
        return adding(self, request, form, title=title, button="Draw the instances")

    @admin.action(description="Undo the selected …", permissions=["decide"])
    @after_asking(
        "Undo choices of instances",
        "The sample is again what it was before. It is refused once people were asked.",
        "Undo",
    )
    def undo_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        account: Any = request.user

        def undo(choice: InstanceChoice) -> bool:
            try:
                return choose.undo(choice, by=account, because=reason[:500])
            except GenieError as error:
                self.message_user(request, f"{choice}: {error.message}", messages.ERROR)
                return False

        self.act_on_rows(request, queryset, undo, "Undone", reason)
