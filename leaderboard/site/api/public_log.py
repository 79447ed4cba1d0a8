from typing import Any

from django.http import Http404
from rest_framework import serializers

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import open_entries
from leaderboard.api.base import ByNumber, DetailView, ListView, operation
from leaderboard.api.query import LARGEST, Choice, CursorQuery, Query, WholeNumber

_PATH = "In hexadecimal, in the order of RFC 9162, section 2.1."


class HeadSerializer(serializers.Serializer[Any]):
    size = serializers.IntegerField(help_text="Number of entries in the log.")
    root = serializers.CharField(  # type: ignore[assignment]
        help_text="Root of its Merkle tree (SHA-256)."
    )
    at = serializers.DateTimeField()


class StateSerializer(HeadSerializer):
    consistency = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Hashes to check that it begins with the log of `since` entries. "
        f"{_PATH}",
    )


class EntrySerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="From 0.")
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=LogEntry.Kind.choices)
    body = serializers.CharField(
        help_text="The hashed leaf: canonical JSON (RFC 8785) of time, kind and commitment."
    )
    salt = serializers.CharField(
        allow_null=True,
        help_text="Hexadecimal. Null while the content is not public.",
    )
    data = serializers.CharField(  # type: ignore[assignment]
        allow_null=True,
        help_text="The content as canonical JSON. The commitment is the SHA-256 of the "
        "salt's bytes and this text.",
    )


class IncludedEntrySerializer(EntrySerializer):
    head = HeadSerializer()
    inclusion = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"Hashes to check that the entry is in the log of `head`. {_PATH}",
    )


class StateQuery(Query):
    since = WholeNumber(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Size of an earlier head that you stored.",
    )


class EntriesQuery(CursorQuery):
    kind = Choice(LogEntry.Kind.values, required=False)


class IncludedEntryQuery(Query):
    size = WholeNumber(
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="Size of a published head. If omitted, the newest.",
    )


@operation(
    "Show the newest head of the public log",
    "Store it. The next head must be consistent with it.",
    "not-found",
)
class LogState(DetailView):
    serializer_class = StateSerializer
    query_class = StateQuery

    def get_object(self) -> dict[str, Any]:
        head, since = log.head(), self.query.get("since")
        if since is not None and since > head.size:
            raise Http404(f"The log has {head.size:,} entries, not {since:,}.")
        path = None if since is None else log.consistency(since, head.size)
        return {**vars(head), "consistency": path}


@operation("List the entries of the public log, oldest first")
class LogEntries(ListView):
    serializer_class = EntrySerializer
    query_class = EntriesQuery
    filters = {"kind": "kind"}
    pagination_class = ByNumber
    queryset = LogEntry.objects.exclude(number=None).order_by("number")

    def paginate_queryset(self, queryset: Any) -> Any:
        return open_entries(super().paginate_queryset(queryset) or [])


@operation("Show an entry of the public log and how it is included")
class LogEntryDetail(DetailView):
    serializer_class = IncludedEntrySerializer
    query_class = IncludedEntryQuery

    def get_object(self) -> dict[str, Any]:
        try:
            entry = LogEntry.objects.get(number=min(self.kwargs["number"], LARGEST))
            head = log.head(self.query.get("size"))
        except (LogEntry.DoesNotExist, LogHead.DoesNotExist):
            raise Http404 from None
        if entry.number is None or entry.number >= head.size:
            raise Http404(f"Entry {entry.number} came after the first {head.size:,}.")
        (path,) = log.inclusion([entry.number], head.size)
        return {**open_entries([entry])[0], "head": head, "inclusion": path}
