"""Staff actions on rows: one declaration makes entry, page, address, button and history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib import messages
from django.contrib.admin import helpers
from django.contrib.admin.utils import model_ngettext
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from genie.lib.typing import Account


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="Recorded in the history with the decision.",
    )


class PlainForm(forms.Form):
    """No fields: a confirmation is enough."""


@dataclass(frozen=True)
class Line:
    pk: object
    text: str
    detail: str = ""
    # more information, a sentence each
    notes: Sequence[str] = ()


@dataclass
class Action:
    """An action on rows of a `ListAdmin`, confirmed on a page that lists them.

    Then `service(row, by, **answers)` is called for each row, or `every(model_admin,
    request, rows, **answers)` once. A service returns whether or how much it changed; a
    string is shown. `run(model_admin, request, rows)` replaces the page and the services.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    name: str
    # its entry in the menu of the list
    label: str
    _: KW_ONLY
    title: str = ""
    sentence: str = ""
    button: str = ""
    form: type[forms.Form] = ReasonForm
    service: Callable[..., object] | None = None
    every: Callable[..., int | HttpResponse | None] | None = None
    run: Callable[..., HttpResponse | None] | None = None
    # a permission, or the verb of one for rows of the admin's model
    permission: str = "change"
    # whether a role on a row's task is enough
    on_task: bool = True
    danger: bool = False
    # the rows whose state allows it; with `otherwise`, the page lists no others
    allowed: Q | Callable[[QuerySet[Any]], Iterable[Any]] = field(default_factory=Q)
    otherwise: str = ""
    # the sentence if more than one row is chosen
    single: str = ""
    line: Callable[[Any], Line] | None = None
    totals: Callable[[list[Any]], list[tuple[str, str]]] | None = None
    # the line of the history; without it, the service writes its own
    history: str | Callable[..., str] = ""
    # messages with `n`, `n_all`, `n_left`, and the model's plural as `rows` and `Rows`
    done: str = ""
    left: str = ""
    # address and button of the same page for one row
    path: str = ""
    on_page: str = ""

    def __post_init__(self) -> None:
        # Django reads these of a function.
        self.__name__, self.short_description = self.name, self.label

    def __call__(
        self, model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        chosen = model_admin.within_role(request, self.permission, queryset)
        n_chosen = chosen.count()
        rows = list(self.rows_of(chosen) if self.otherwise else chosen.order_by("pk"))
        if not rows or (self.single and len(rows) > 1):
            sentence = self.single if rows else self.otherwise.format(n_left=n_chosen)
            if sentence:
                model_admin.message_user(request, sentence, messages.WARNING)
            return None
        if self.left and n_chosen > len(rows):
            sentence = self.left.format(n_left=n_chosen - len(rows))
            model_admin.message_user(request, sentence, messages.WARNING)
        if self.run is not None:
            return self.run(model_admin, request, rows)
        line: Any = self.line or getattr(
            model_admin, "line_of", lambda row: Line(row.pk, str(row))
        )
        totals = self.totals(rows) if self.totals is not None else ()
        form = self.ask(model_admin, request, map(line, rows), totals)
        if isinstance(form, HttpResponse):
            return form
        if self.every is None:
            n = self.act(model_admin, request, rows, **form.cleaned_data)
        else:
            try:
                done = self.every(model_admin, request, rows, **form.cleaned_data)
            except GenieError as error:
                model_admin.message_user(request, error.message, messages.ERROR)
                return None
            if not isinstance(done, int):
                return done
            n = done
        self.report(model_admin, request, n, len(rows))
        return None

    def rows_of(self, queryset: QuerySet[Any]) -> Iterable[Any]:
        if isinstance(self.allowed, Q):
            return queryset.filter(self.allowed).order_by("pk")
        return self.allowed(queryset)

    def ask(
        self,
        model_admin: Any,
        request: HttpRequest,
        lines: Iterable[Line],
        totals: Iterable[tuple[str, str]] = (),
        hidden: Iterable[tuple[str, object]] = (),
        form: forms.Form | None = None,
    ) -> forms.Form | HttpResponse:
        """Return the confirmed form, or the page that asks for it; with a form, its page."""
        if form is None:
            # Only the confirmation page sends this field, not the list of rows.
            confirmed = request.method == "POST" and "confirmed" in request.POST
            form = self.form(request.POST if confirmed else None)
            if confirmed and form.is_valid():
                return form
        context = {
            **model_admin.admin_site.each_context(request),
            "opts": model_admin.opts,
            "title": self.title,
            "question": self,
            "form": form,
            "lines": list(lines),
            "totals": list(totals),
            "hidden": list(hidden),
            "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
            "media": model_admin.media,
        }
        return TemplateResponse(request, "admin/confirm.html", context)

    def act(
        self,
        model_admin: Any,
        request: HttpRequest,
        rows: Iterable[Any],
        prepare: Callable[[Any], None] | None = None,
        **answers: Any,
    ) -> int:
        """Act on each row after `prepare`, which is slow; return how much was done."""
        n = 0
        for row in rows:
            try:
                if prepare is not None:
                    prepare(row)
                n += self._act_on(row, model_admin, request, answers)
            except GenieError as error:
                sentence = f"{row}: {error.message}"
                model_admin.message_user(request, sentence, messages.ERROR)
        return n

    def _act_on(
        self, row: Any, model_admin: Any, request: HttpRequest, answers: dict[str, Any]
    ) -> int:
        service = cast("Callable[..., object]", self.service)
        by = cast("Account", request.user)
        if not self.history:
            done = service(row, by, **answers)
        else:
            with transaction.atomic():  # done and logged, or neither
                history = self.history
                if isinstance(history, str):
                    entry = history.format(row=row, **answers)
                else:
                    entry = history(row, **answers)
                done = service(row, by, **answers)
                if done is not False:
                    model_admin.log_change(request, row, entry.strip())
        if isinstance(done, str):
            model_admin.message_user(request, done, messages.SUCCESS)
        return done if isinstance(done, int) else 1

    def report(
        self, model_admin: Any, request: HttpRequest, n: int, n_all: int
    ) -> None:
        # Rows whose state did not allow it were named before.
        n_left = 0 if self.otherwise else n_all - n
        plural = str(model_admin.opts.verbose_name_plural).capitalize()
        figures: dict[str, object] = {"n": n, "n_all": n_all, "n_left": n_left}
        figures |= {"rows": model_ngettext(model_admin.opts, n), "Rows": plural}
        if self.done and (n or not self.left):
            level = messages.SUCCESS if n else messages.WARNING
            model_admin.message_user(request, self.done.format(**figures), level)
        if self.left and n_left > 0:
            sentence = self.left.format(**figures)
            model_admin.message_user(request, sentence, messages.WARNING)
