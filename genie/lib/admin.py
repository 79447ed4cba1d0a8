"""Shared parts of the apps' admin pages: fast lists, pages that ask for a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin import (
    ModelAdmin,
    ShowFacets,
    SimpleListFilter,
    TabularInline,
)
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.admin.utils import NotRelationField, get_fields_from_path
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.core.paginator import Paginator
from django.db import models, transaction
from django.db.models import Model, ProtectedError, Q, RestrictedError
from django.db.models.constants import LOOKUP_SEP
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString

from genie.lib.database import OrderedJSONField
from genie.lib.runner import Work
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

    from genie.lib.typing import Account


# Admin pages that create rows with a separate form.
Form = TypeVar("Form", bound=forms.Form)
_PAGE = "admin/add_by_form.html"


def filled_in(
    model_admin: ModelAdmin[Any], request: HttpRequest, kind: type[Form]
) -> tuple[Form, bool]:
    if not model_admin.has_add_permission(request):
        raise PermissionDenied
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = kind(*sent)
    return form, form.is_bound and form.is_valid()


def add_page(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    form: forms.Form,
    *,
    title: str,
    button: str,
    page: str = _PAGE,
    **more: Any,
) -> HttpResponse:
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": title,
        "button": button,
        "form": form,
        "media": model_admin.media + form.media,
        **more,
    }
    return TemplateResponse(request, page, context)


def way_back(request: HttpRequest, usual: str) -> HttpResponse:
    """Redirect to the page of this site on which the action was chosen."""
    page = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()})
    return redirect(page if is_ours else usual)


class Imported(SimpleListFilter):
    """Hide imported rows, which satisfy `rows`, unless they are requested."""

    title = "imported"
    parameter_name = "imported"
    rows: Q

    @classmethod
    def where(cls, **rows: Any) -> type[Imported]:
        return type("Imported", (cls,), {"rows": Q(**rows)})

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("only", "only imported"), ("too", "shown, too")]

    def choices(self, changelist: Any) -> Iterator[Any]:
        hidden, *others = super().choices(changelist)
        return iter([{**hidden, "display": "hidden"}, *others])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "too":
            return queryset
        return queryset.filter(self.rows if self.value() else ~self.rows)


# Rows are counted up to this, because counting reads all of them for each page shown.
COUNTED = 10_000
# All rows of at most so many are searched: a more frequent word is not specific.
FEW = 100


class MoreThan(int):
    def __str__(self) -> str:
        return f"{int(self):,}+"


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    @cached_property
    def count(self) -> int:
        n = cast("QuerySet[Any]", self.object_list).order_by()[: COUNTED + 1].count()
        return MoreThan(COUNTED) if n > COUNTED else n


class PageOfRows(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        self.model_admin.look_up(self.result_list)  # type: ignore[attr-defined]


class ListAdmin(ModelAdmin):  # type: ignore[type-arg]
    """Base of lists: rows are counted once, and only up to a limit.

    No `date_hierarchy`, because it groups the dates of the whole table. Filter by state
    or by date instead; lists begin with the newest.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    # verb -> its permission, if not Django's own name
    needs: ClassVar[dict[str, str]] = {}
    # actions that only a row's page offers, not the list
    row_actions: ClassVar[Sequence[Action]] = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PageOfRows

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row = super().get_object(request, *args, **kwargs)
        if row is not None:
            self.look_up([row])
        return row

    def look_up(self, rows: list[Any]) -> None:
        """Load figures for the rows of one page; by default none."""

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns; a pool has no title, so that of its newest work is shown."""
        names: Any = super().get_list_display(request)
        titles = {
            name: titles_of(self.model, name)
            for name in names
            if str(name).split(LOOKUP_SEP)[-1] == "pool"
        }
        return plainly(self.model, [titles.get(name) or name for name in names])

    def may(self, request: HttpRequest, verb: str, row: Model | None = None) -> bool:
        """Check whether the user may do this with a row, or with any row at all."""
        return bool(request.user.has_perm(self.permission_to(verb)))

    def permission_to(self, verb: str) -> str:
        own = f"{self.opts.app_label}.{verb}_{self.opts.model_name}"
        return self.needs.get(verb, verb if "." in verb else own)

    def within_role(
        self, request: HttpRequest, verb: str, rows: QuerySet[Any]
    ) -> QuerySet[Any]:
        return rows

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        entries: dict[str, Any] = super().get_actions(request)
        return {
            name: entry
            for name, entry in entries.items()
            if not isinstance(entry[0], Action) or self._offers(request, entry[0])
        }

    def _offers(self, request: HttpRequest, act: Action) -> bool:
        if act.on_task:
            return self.may(request, act.permission)
        return ListAdmin.may(self, request, act.permission)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.act_on_row)
        stem = f"{self.opts.app_label}_{self.opts.model_name}"
        urls: list[URLPattern] = super().get_urls()
        return [
            path(f"<int:pk>/{a.path}/", view, {"act": a}, name=f"{stem}_{a.path}")
            for a in self._all_actions()
            if a.path
        ] + urls

    def act_on_row(self, request: HttpRequest, pk: int, act: Action) -> HttpResponse:
        if not self.may(request, act.permission):
            raise PermissionDenied
        rows = self.get_queryset(request).filter(pk=pk)
        if (row := rows.first()) is None:
            raise Http404
        if not self.may(request, act.permission, row):
            raise PermissionDenied
        change = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return act(self, request, rows) or way_back(request, reverse(change, args=[pk]))

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response: Any = super().response_action(request, *args, **kwargs)
        is_done = getattr(response, "status_code", 0) == HTTPStatus.FOUND
        return way_back(request, response["Location"]) if is_done else response

    def buttons_of(self, request: HttpRequest, row: Model) -> list[Action]:
        """Return the actions that the row's state and the user's role allow."""
        rows = self.model._default_manager.filter(pk=row.pk)
        return [
            act
            for act in self._all_actions()
            if act.on_page
            and self.may(request, act.permission, row)
            and any(act.rows_of(rows))
        ]

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and (buttons := self.buttons_of(request, row)):
            context["buttons"] = buttons
        return super().render_change_form(request, context, *args, **kwargs)

    def _all_actions(self) -> list[Action]:
        return [
            one
            for one in [*(self.actions or ()), *self.row_actions]
            if isinstance(one, Action)
        ]


class SearchedApart(ListAdmin):
    """A list with so many rows that each field is searched separately.

    A search for a word in any of several fields reads every row; for one field the
    database has an index, or few matching rows. A field with a lookup (`key__exact`) is
    searched by that, `pk` for a number, any other for a substring. For frequent words,
    such as a digit of a name, only the newest rows are searched.
    """

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term.split()
        if not words:
            return queryset, False
        found = [
            {pk for name in self.search_fields for pk in self._matching_pks(name, word)}
            for word in words
        ]
        return queryset.filter(pk__in=set.intersection(*found)), False

    def _matching_pks(self, name: str, word: str) -> list[Any]:
        rows = self.model._default_manager.order_by("-pk").values_list("pk", flat=True)
        if name == "pk":
            # eighteen digits fit into a key
            return (
                [*rows.filter(pk=word)] if word.isdecimal() and len(word) < 19 else []
            )
        if name.endswith("__exact"):
            return [*rows.filter(**{name: word})[:COUNTED]]
        path, _, field = name.rpartition("__")
        contains = {f"{field}__icontains": word}
        if not path:
            found = rows.exclude(**{field: ""}).filter(**contains)
        else:
            # the related rows first, because otherwise all rows are joined to them
            theirs: Any = get_fields_from_path(self.model, path)[-1].related_model
            of = theirs._default_manager.filter(**contains).order_by("-pk")
            pks = list(of.values_list("pk", flat=True)[: FEW + 1])
            found = rows.filter(**{f"{path}__in": pks})
            if len(pks) > FEW:
                newest = [*rows[:COUNTED], 0]
                oldest = newest[min(COUNTED, len(newest)) - 1]
                found = rows.filter(pk__gte=oldest, **{f"{name}__icontains": word})
        return [*found[: COUNTED + 1]]


def note(
    by: AbstractBaseUser | None, about: models.Model, sentence: str, why: str = ""
) -> None:
    """Write a person's action to the admin's log; programs leave no entry."""
    if by is not None and by.pk is not None:
        LogEntry.objects.log_actions(
            by.pk,
            [about],
            CHANGE,
            f"{sentence} Reason: {why}" if why else sentence,
            single_object=True,
        )


_CENTS = "_cents"
Shown = str | Callable[[Any], Any]


def plainly(model: type[models.Model], names: Iterable[Any]) -> list[Shown]:
    return [_plain(model, name) if isinstance(name, str) else name for name in names]


@lru_cache(maxsize=1024)
def _plain(model: type[models.Model], name: str) -> Shown:
    try:
        field = get_fields_from_path(model, name)[-1]
    except (FieldDoesNotExist, NotRelationField):
        return name
    if name.endswith(_CENTS):
        write: Callable[[Any], Any] = money
    elif isinstance(field, models.JSONField | OrderedJSONField):
        write = structure
    elif LOOKUP_SEP in name:
        write = _as_it_is
    else:
        return name
    label = str(getattr(field, "verbose_name", name)).removesuffix(" cents")

    @admin.display(description=label, ordering=name)
    def cell(row: Any) -> Any:
        value = _value(row, name)
        return "–" if value is None else write(value)

    cell.__name__ = name
    return cell


def _as_it_is(value: Any) -> Any:
    return value


def _value(row: Any, path: str) -> Any:
    return reduce(
        lambda part, name: getattr(part, name, None), path.split(LOOKUP_SEP), row
    )


def titles_of(model: type[models.Model], name: str) -> Shown:
    """Return a column with the titles of pools; a row may name one by its slug only."""
    field: Any = get_fields_from_path(model, name)[-1]
    titles = {
        pool.pk: str(pool)
        for pool in apps.get_model("crowd", "Pool")._default_manager.all()
    }
    key = name.removesuffix(field.name) + field.attname

    @admin.display(description="work", ordering=name)
    def work(row: Any) -> Any:
        pk = _value(row, key)
        return titles.get(pk, pk)

    return work


def money(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def structure(value: Any) -> SafeString | str:
    if value in (None, "", [], {}):
        return "–"
    if isinstance(value, dict):
        pairs = ((name, structure(one)) for name, one in value.items())
        rows = format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs)
        return format_html("<dl>{}</dl>", rows)
    if not isinstance(value, list):
        return str(value)
    if all(isinstance(one, str) for one in value):
        return ", ".join(value)
    rows = format_html_join("", "<li>{}</li>", ((structure(one),) for one in value))
    return format_html("<ul>{}</ul>", rows)


def arguments(value: dict[str, Any]) -> str:
    """Format the arguments of a job.

    Examples
    --------
    >>> arguments({"campaign": 12, "now": True})
    'campaign 12, now True'
    """
    return ", ".join(f"{name} {given}" for name, given in value.items()) or "–"


_OF_WORK = {field.name for field in Work._meta.fields}


class NeverWritten:
    def has_add_permission(self, *args: Any, **kwargs: Any) -> bool:
        return False

    def has_change_permission(self, *args: Any, **kwargs: Any) -> bool:
        return False


class ReadOnlyAdmin(NeverWritten, ListAdmin):
    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        # Django leaves these out of the writable fields only.
        left_out = {*(self.get_exclude(request, obj) or ())}
        names: list[Any] = [*super().get_fields(request, obj)]
        names = [one for one in names if getattr(one, "__name__", one) not in left_out]
        names.sort(key=_OF_WORK.__contains__)  # what a row is comes first
        # Django adds read-only fields to those of the row; each should appear once.
        return list(dict.fromkeys(plainly(self.model, names)))

    def get_readonly_fields(
        self, request: HttpRequest, obj: Model | None = None
    ) -> Any:
        names = [field.name for field in self.opts.fields]
        written = [one for one in plainly(self.model, names) if callable(one)]
        return [*super().get_readonly_fields(request, obj), *written]

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False


class ReadOnlyInline(NeverWritten, TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return plainly(self.model, super().get_fields(request, obj))

    def get_readonly_fields(
        self, request: HttpRequest, obj: Model | None = None
    ) -> Any:
        return plainly(self.model, super().get_readonly_fields(request, obj))


WHY = "why"


class WhyForm(forms.ModelForm):  # type: ignore[type-arg]
    why = forms.CharField(
        label="Reason for this change",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="Recorded in the history with your name.",
    )


def _delete(
    model_admin: AsksWhy, request: HttpRequest, rows: list[Model], reason: str
) -> int:
    refused = [
        str(row)
        for row in rows
        if not (model_admin.may_delete(row) and _is_gone(request, row, reason))
    ]
    if refused:
        more = f" and {len(refused) - 10:,} more" if len(refused) > 10 else ""
        sentence = (
            "Not deleted because other records depend on them: "
            f"{', '.join(refused[:10])}{more}."
        )
        model_admin.message_user(request, sentence, messages.ERROR)
    return len(rows) - len(refused)


def _is_gone(request: HttpRequest, row: Model, reason: str) -> bool:
    by = cast("Account", request.user)
    try:
        with transaction.atomic():
            LogEntry.objects.log_actions(
                by.pk, [row], DELETION, f"Deleted. Reason: {reason}", single_object=True
            )
            row.delete()
    except (ProtectedError, RestrictedError):
        return False
    return True


DELETE = Action(
    "delete_with_reason",
    "Delete the selected …",
    title="Delete",
    sentence="This cannot be undone.",
    button="Delete all of them",
    permission="delete",
    on_task=False,
    danger=True,
    every=_delete,
    done="Deleted: {n}.",
)


class AsksWhy(ListAdmin):
    """Rows that staff may edit, always with a reason.

    Rows are deleted only by an action that asks for a reason, and not if others refer
    to them.
    """

    actions: Any = [DELETE]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if obj is not None and self.has_change_permission(request, obj):
            base = kwargs.get("form", self.form)
            bases = (WhyForm,) if base is forms.ModelForm else (WhyForm, base)
            kwargs["form"] = type("WhyForm", bases, {})
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = list(super().get_fieldsets(request, obj))
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        shown = [
            (title, {**options, "fields": [f for f in options["fields"] if f != WHY]})
            for title, options in fieldsets
        ]
        return [*shown, (None, {"fields": [WHY]})]

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        # It is no field of the row, and Django would list it among the changes.
        why = form.cleaned_data.pop(WHY, "")
        if WHY in form.changed_data:
            form.changed_data.remove(WHY)
        changed = super().construct_change_message(request, form, formsets, add)
        entry = LogEntry(change_message=json.dumps(changed))
        changes: str = entry.get_change_message()
        return f"{changes} Reason: {why}" if why else changes

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def may_delete(self, row: Model) -> bool:
        return True


def person(request: HttpRequest) -> Account:
    return cast("Account", request.user)
