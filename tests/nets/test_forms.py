"""Forms, dangerous actions and periodic jobs are as in a committed file."""

from django import forms
from django.contrib import admin
from django.urls import get_resolver

from genie.schedules import SCHEDULES

OURS = ("crowd.", "genie.", "leaderboard.", "quality.")
OF_FIELDS = (
    "required", "strip", "min_length", "max_length", "min_value", "max_value",
    "max_digits", "decimal_places", "initial",
)  # fmt: skip
OF_ACTIONS = ("on_task", "danger")


def kinds_of(base):
    for kind in base.__subclasses__():
        if kind.__module__.startswith(OURS):
            yield kind
        yield from kinds_of(kind)


def name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def shown(thing, names) -> str:
    """Return what is set of these, as text that is the same in every process."""
    values = {name: getattr(thing, name, None) for name in names}
    return "".join(
        f", {name} {value}"
        for name, value in values.items()
        if value not in (None, "", ()) and not callable(value)
    )


def lines_of_forms():
    for kind in kinds_of(forms.BaseForm):
        for name, field in kind.base_fields.items():
            of_area = [f", {n} {field.widget.attrs.get(n)}" for n in ("rows", "cols")]
            area = of_area if isinstance(field.widget, forms.Textarea) else []
            words = type(field).__name__ + shown(field, OF_FIELDS) + "".join(area)
            yield f"{name_of(kind)}.{name}: {words}"


def lines_of_actions():
    for page in admin.site._registry.values():
        for action in page.actions if name_of(type(page)).startswith(OURS) else ():
            yield f"{name_of(type(page))}.{action.name}: action{shown(action, OF_ACTIONS)}"


def test_forms_actions_and_jobs_are_as_committed(net):
    get_resolver().url_patterns  # noqa: B018 - loads all that have forms
    jobs = (f"{job.job}: job, every {job.minutes} minutes" for job in SCHEDULES)
    lines = sorted({*lines_of_forms(), *lines_of_actions(), *jobs})
    net("forms.txt", "".join(f"{line}\n" for line in lines))
