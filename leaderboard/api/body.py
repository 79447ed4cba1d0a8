"""Bodies of requests: a view declares its fields; all others are refused."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

# fields that a browser's form adds
_OF_FORMS = {"csrfmiddlewaretoken"}


class Body(serializers.Serializer[Any]):
    """The fields of one body, or of an object in one.

    A misspelt field that is ignored makes something else than was asked for.
    """

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            takes = ", ".join(self.fields)
            unknown = {
                name[:40]: f"Unknown field; this object accepts: {takes}."
                for name in data
                # forms may number the values of a list: links[0]
                if name.partition("[")[0] not in {*self.fields, *_OF_FORMS}
            }
            if unknown:
                raise serializers.ValidationError(unknown, "unknown-field")
        return super().to_internal_value(data)
