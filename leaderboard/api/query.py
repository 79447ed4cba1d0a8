"""Query parameters: a view declares its own; other names or values are refused."""

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.settings import api_settings

from genie.lib.errors import GenieError
from genie.lib.moment import read_moment

# the range of a database column
LARGEST = 2**63 - 1


class Query(serializers.Serializer[Any]):
    """The parameters of one GET; the schema and the manual are written from it too."""

    def to_internal_value(self, data: Any) -> Any:
        known = set(self.fields)
        for name in data:
            # a misspelled filter that is ignored would return all rows unnoticed
            if name not in {*known, api_settings.URL_FORMAT_OVERRIDE}:
                takes = ", ".join(self.fields) or "none"
                raise GenieError(
                    f"Unknown parameter {name[:40]!r}; this URL accepts: {takes}.",
                    code="unknown-parameter",
                    details={"parameter": name, "choices": list(self.fields)},
                )
        return super().to_internal_value(data)


def one_of(name: str, value: str, choices: Collection[str]) -> None:
    if value and value not in choices:
        raise GenieError(
            f"{name} must be one of {', '.join(choices)}, not {value[:40]!r}.",
            code="bad-choice",
            details={"parameter": name, "choices": list(choices)},
        )


class Choice(serializers.ChoiceField):
    """A parameter with fixed choices."""

    def to_internal_value(self, data: Any) -> Any:
        one_of(str(self.field_name), str(data), list(self.choices))
        return data


class WholeNumber(serializers.IntegerField):
    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        raise GenieError(
            f"{self.field_name} must be a positive whole number.", code="bad-page"
        )


@extend_schema_field(OpenApiTypes.STR)
class MomentField(serializers.Field[Any, str, str, Any]):
    """A moment of the past."""

    def to_internal_value(self, data: str) -> Any:
        moment = read_moment(data)
        if moment is None:
            raise GenieError(
                f"{self.field_name} must be a time in the past: 2026-11-20, "
                "2026-11-20T16:21:11Z or 20261120T162111Z.",
                code="bad-moment",
            )
        return moment


class PageQuery(Query):
    """Which part of a list."""

    page = WholeNumber(
        required=False, help_text="Page number; 404 after the last page."
    )
    page_size = WholeNumber(
        required=False,
        min_value=1,
        help_text="Results per page: 100 by default, at most 500.",
    )


class CursorQuery(PageQuery):
    """Which part of a list to which rows are added."""

    cursor = WholeNumber(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="From `next` of the previous response. Rows added in the meantime do not "
        "shift the pages. Ignored if `page` is given.",
    )


class AtQuery(PageQuery):
    at = MomentField(
        required=False,
        help_text="State at a past time: a date (the end of that day), an ISO 8601 time, "
        "or 20261120T162111Z.",
    )


# Bodies of requests: a view declares its fields; all others are refused.

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
