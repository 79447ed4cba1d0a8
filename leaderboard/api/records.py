"""Answers with the fields of a dataclass or model, whose types are not declared again."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

from django.db import models
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.field_mapping import ClassLookupDict

_OF_TYPES: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
    UUID: serializers.UUIDField,
}
_OF_COLUMNS: Any = ClassLookupDict(
    {
        **serializers.ModelSerializer[Any].serializer_field_mapping,
        models.SlugField: serializers.CharField,
    }
)
_hints = cache(get_type_hints)


class Record(serializers.Serializer[Any]):
    # A dataclass or model. It has no docstring, which the schema would show.
    record: Any
    # its fields as NAME or NAME=SOURCE, such as task=pool; without it, all of the dataclass
    shown = ""
    help_texts: Mapping[str, str] = {}

    def get_fields(self) -> dict[str, Any]:
        declared = super().get_fields()
        shown = self.shown.split() or [one.name for one in fields(self.record)]
        sources = dict(one.partition("=")[::2] for one in [*shown, *declared])
        return {
            name: declared.get(name) or self._field(name, sources[name])
            for name in sources
        }

    def _field(self, name: str, source: str) -> Any:
        *path, last = (source or name).split(".")
        record = self.record
        for step in path:
            found = _attribute(record, step)
            record = getattr(found, "related_model", found)
        kind, options = field_of(_attribute(record, last))
        return kind(
            **options, source=source or None, help_text=self.help_texts.get(name)
        )


def _attribute(record: Any, name: str) -> Any:
    if hasattr(record, "_meta"):
        columns = {
            key: column
            for column in record._meta.concrete_fields
            for key in (column.name, column.attname, "pk" * column.primary_key)
        }
        if name in columns:
            return columns[name]
    hints = _hints(record)
    return (
        hints[name] if name in hints else _hints(getattr(record, name).fget)["return"]
    )


# the class and the options of the field for a column or a type
def field_of(kind: Any) -> tuple[Any, dict[str, Any]]:
    if isinstance(kind, models.Field):
        options: dict[str, Any] = {"allow_null": True} if kind.null else {}
        if kind.choices:
            return serializers.ChoiceField, {**options, "choices": kind.choices}
        return _OF_COLUMNS[getattr(kind, "target_field", kind)], options
    origin, parts = get_origin(kind), get_args(kind)
    if NoneType in parts:
        of, options = field_of(next(one for one in parts if one is not NoneType))
        return of, {**options, "allow_null": True}
    if origin in {list, tuple, Sequence, dict, Mapping}:
        named = origin in {dict, Mapping}
        of, options = field_of(parts[1 if named else 0])
        many = serializers.DictField if named else serializers.ListField
        return many, {"child": of(**options)}
    return _OF_TYPES[kind], {}


HTML_URL_HELP = "Its web page."


def html_url(request: Request | None, name: str, value: Any) -> str:
    path = reverse(f"leaderboard:{name}", args=[value])
    return path if request is None else request.build_absolute_uri(path)


@extend_schema_field(OpenApiTypes.URI)
class HtmlUrl(serializers.Field[Any, Any, str, Any]):
    """The page of a row, named by one of its attributes."""

    def __init__(self, name: str, attribute: str = "pk", **options: Any) -> None:
        options.setdefault("source", "*")
        super().__init__(read_only=True, help_text=HTML_URL_HELP, **options)
        self.name, self.attribute = name, attribute

    def to_representation(self, value: Any) -> str:
        named = getattr(value, self.attribute)
        return html_url(self.context.get("request"), self.name, named)
