from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import opened
from leaderboard.api.base import View, problems
from leaderboard.api.pagination import ByNumber
from leaderboard.api.query import LARGEST, Choice, CursorQuery, Query, WholeNumber

_PROOF = (
    "Hashes in hexadecimal, in the order in which RFC 9162, section 2.1, checks them."
)


class HeadSerializer(serializers.Serializer[Any]):
    size = serializers.IntegerField(help_text="How many entries the log had.")
    root = serializers.CharField(  # type: ignore[assignment]
        help_text="Root of its Merkle tree (SHA-256)."
    )
    at = serializers.DateTimeField()


class StateSerializer(HeadSerializer):
    consistency = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text=f"That it begins with the log of `since` entries. {_PROOF}",
    )


class EntrySerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="From 0.")
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=LogEntry.Kind.choices)
    body = serializers.CharField(
        help_text="What is hashed as a leaf: canonical JSON (RFC 8785) of time, kind and "
        "commitment."
    )
    salt = serializers.CharField(
        allow_null=True,
        help_text="In hexadecimal; null while what the entry says is not public.",
    )
    data = serializers.CharField(  # type: ignore[assignment]
        allow_null=True,
        help_text="What it says, as canonical JSON: the commitment is the SHA-256 of "
        "the salt's bytes and this text.",
    )


class ProvedSerializer(EntrySerializer):
    head = HeadSerializer()
    inclusion = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"That the entry is in the log of `head`. {_PROOF}",
    )


class StateQuery(Query):
    since = WholeNumber(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Size of an earlier head that you have kept.",
    )


class EntriesQuery(CursorQuery):
    kind = Choice(LogEntry.Kind.values, required=False)


class ProvedQuery(Query):
    size = WholeNumber(
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="Size of a published head; the newest if left out.",
    )


class LogState(View):
    serializer_class = StateSerializer
    query_class = StateQuery

    @extend_schema(
        tags=["history"],
        operation_id="history_retrieve",
        summary="Show the newest head of the public log",
        description="Keep it: the next one must be consistent with it.",
        responses={200: StateSerializer, **problems("not-found", "bad-page")},
    )
    def get(self, request: Request) -> Response:
        head, since = log.head(), self.query.get("since")
        if since is not None and since > head.size:
            raise Http404(f"The log has {head.size:,} entries, not {since:,}.")
        proof = None if since is None else log.consistency(since, head.size)
        found = {"size": head.size, "root": head.root, "at": head.at}
        return Response(self.get_serializer({**found, "consistency": proof}).data)


class LogEntries(View):
    serializer_class = EntrySerializer
    query_class = EntriesQuery
    pagination_class = ByNumber

    @extend_schema(
        tags=["history"],
        operation_id="history_entries_list",
        summary="List the entries of the public log, oldest first",
        responses={200: EntrySerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request) -> Response:
        rows = LogEntry.objects.exclude(number=None).order_by("number")
        page: Any = self.paginate_queryset(rows.filter(**self.chosen("kind")))
        data = self.get_serializer(opened(page), many=True).data
        return self.get_paginated_response(data)


class LogEntryDetail(View):
    serializer_class = ProvedSerializer
    query_class = ProvedQuery

    @extend_schema(
        tags=["history"],
        operation_id="history_entries_retrieve",
        summary="Show an entry of the public log, with the proof that it is there",
        responses={200: ProvedSerializer, **problems("not-found", "bad-page")},
    )
    def get(self, request: Request, number: int) -> Response:
        size = self.query.get("size")
        try:
            entry = LogEntry.objects.get(number=min(number, LARGEST))
            head = log.head(size)
        except (LogEntry.DoesNotExist, LogHead.DoesNotExist):
            raise Http404 from None
        if entry.number is None or entry.number >= head.size:
            raise Http404(f"Entry {number} came after the first {head.size:,}.")
        (proof,) = log.inclusion([entry.number], head.size)
        found = {**opened([entry])[0], "head": head, "inclusion": proof}
        return Response(self.get_serializer(found).data)
