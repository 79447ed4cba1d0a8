"""One row of any model, filled with texts as long as they come."""

from contextlib import suppress
from decimal import Decimal

from django.contrib.auth import get_user_model
from django.db import IntegrityError, models, transaction
from django.urls import get_resolver
from django.utils import timezone

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.judges.definition import FIELDS, SCRIPTED
from quality.models import RetiredQuestion, TestQuestion

WORDS = "Long words as people write them, and system_outputs_final too "
LONGEST = 60


def fill(model, made):
    """Save one row of a model, and of those that it points to; `made` keeps them."""
    if model not in made:
        values = {
            field.attname if field.is_relation else field.name: _value(field, made)
            for field in model._meta.concrete_fields
            if not field.primary_key
            or (field.is_relation and field not in model._meta.parents.values())
            or isinstance(field, models.CharField)
        }
        if issubclass(model, HumanEvaluation):
            values["kind"] = model.KIND
        elif (
            model._meta.proxy and "success" in values
        ):  # jobs: those that went well and those that failed
            values |= {"id": model.__name__, "success": model.__name__ == "Success"}
        made[model] = _saved(model, values)
    return made[model]


def _saved(model, values):
    """Save with everything, or where a rule forbids that, with what must be there."""
    optional = {field.attname for field in model._meta.concrete_fields if field.null}
    names = sorted(optional)
    alone = ({name} for name in names)
    all_others = (optional - {name} for name in names)
    for left_out in (set(), optional, *alone, *all_others):
        row = model(**{k: v for k, v in values.items() if k not in left_out})
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            continue
        return row
    raise AssertionError(f"{model} wants a row of its own kind")


# What services write whole, and pages read whole.
_WHOLE = {
    "genie.LogEntry.data": '{"says": "Approved at a cost of up to $2.75."}',
    "leaderboard.Judge.definition": {**FIELDS, "endpoint": SCRIPTED},
    "leaderboard.JudgeRun.plan": {"submissions": [], "instances": [], "criteria": []},
}  # fmt: skip


def _value(field, made):
    if (whole := _WHOLE.get(f"{field.model._meta.label}.{field.name}")) is not None:
        return whole
    if field.is_relation:
        if field.related_model is field.model and field.null:
            return None
        return fill(field.related_model, made).pk
    if field.choices:
        return max(field.flatchoices, key=lambda choice: len(str(choice[1])))[0]
    if field.has_default() and not isinstance(
        field, models.CharField | models.TextField
    ):
        return field.get_default()
    for kind, value in _VALUES:
        if isinstance(field, kind):
            return value(field)
    return None


def _text(field):
    longest = min(field.max_length or LONGEST, LONGEST)
    return (WORDS * 2)[:longest].strip() or "x"


def _slug(field):
    return "a-name-with-parts-as-long-as-slugs-come"[: field.max_length]


_VALUES = [
    (models.EmailField, lambda _: "somebody.with.a.long.name@department.example.org"),
    (models.SlugField, _slug),
    (models.GenericIPAddressField, lambda _: "2001:db8:85a3::8a2e:370:7334"),
    (models.URLField, lambda _: "https://example.org/a/long/address/of/a/page"),
    (models.FileField, lambda _: "folder/file.json"),
    (models.CharField, _text),
    (models.TextField, _text),
    (models.DateTimeField, lambda _: timezone.now()),
    (models.DateField, lambda _: timezone.localdate()),
    (models.BooleanField, lambda _: True),
    (models.FloatField, lambda _: 0.123456),
    (models.DecimalField, lambda _: Decimal("1.27")),
    (models.IntegerField, lambda _: 31_999),
    (models.JSONField, lambda _: {}),
    (models.UUIDField, lambda field: field.get_default()),
    (models.BinaryField, lambda _: b""),
]


def fill_all(site):
    """Save a row of every registered model; give what was made, by model."""
    get_resolver().url_patterns  # noqa: B018  only then are all models registered
    made = {get_user_model(): get_user_model().own.order_by("pk").first()}
    made[TestQuestion] = fill(RetiredQuestion, made)
    for model in sorted(site._registry, key=lambda model: model._meta.label):
        fill(model, made)
    return made


def empty(row):
    """Leave out all that a row may do without, one field at a time."""
    for field in row._meta.concrete_fields:
        if field.unique or isinstance(row, get_user_model()):
            continue
        if hasattr(row, "KIND") and field.name in ("kind", "n_workers"):
            continue
        if field.null:
            least = None
        elif field.choices:
            least = field.flatchoices[0][0]
        elif isinstance(field, models.BooleanField | models.IntegerField):
            least = 0
        elif isinstance(field, models.CharField | models.TextField) and field.blank:
            least = ""
        else:
            continue
        with suppress(IntegrityError), transaction.atomic():
            type(row)._base_manager.filter(pk=row.pk).update(**{field.attname: least})
            listed = type(row)._default_manager.filter(pk=row.pk).exists()
            if row._meta.app_label == "quality" and not listed:
                raise IntegrityError  # it must stay on its page
