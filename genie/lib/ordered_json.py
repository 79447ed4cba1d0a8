from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django import forms
from django.db import models

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    Field = models.Field[Any, Any]
else:
    Field = models.Field


class OrderedJSONField(Field):
    """A JSON object whose order of keys matters, stored as text.

    PostgreSQL's own type sorts keys by their length. Such a field cannot be searched by
    its content.
    """

    def get_internal_type(self) -> str:
        return "TextField"

    def get_prep_value(self, value: Any) -> str | None:
        value = super().get_prep_value(value)
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def from_db_value(
        self, value: str | None, _expression: Any, _connection: BaseDatabaseWrapper
    ) -> Any:
        return None if value is None else json.loads(value)

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": forms.JSONField, **kwargs})
