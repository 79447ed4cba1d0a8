"""A task's published numbers and ours, as JSON."""

import json
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.authentication import IsStaff
from genie.accounts.staff import staff_may
from genie.lib.admin import note
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, operation
from leaderboard.api.query import Body
from leaderboard.boards.api.tasks import TaskView
from leaderboard.papers.figures import Verdict, expected_of
from leaderboard.papers.task_figures.beside import beside
from leaderboard.papers.task_figures.keep import (
    forget_published,
    keep_published,
    plan_rows,
)
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task


class PublishedFigureSerializer(serializers.Serializer[Any]):
    table = serializers.CharField(help_text="Page or table that prints the number.")
    row = serializers.CharField(
        help_text="A system or a pair A>B, optionally after a criterion. Empty for the "
        "whole task."
    )
    column = serializers.CharField()
    figure = serializers.CharField(
        help_text="Genie's figure that it is compared with, such as da-wins."
    )
    published = serializers.JSONField(help_text="A number or words as printed.")
    ours = serializers.JSONField(
        help_text="Genie's value. Null if it cannot be computed."
    )
    tolerance = serializers.FloatField(
        allow_null=True,
        help_text="Largest allowed difference. Null if they must be equal.",
    )
    verdict = serializers.CharField(
        help_text=f"One of: {', '.join(verdict.value for verdict in Verdict)}."
    )
    why = serializers.CharField(help_text="Why it cannot be reproduced, if known.")


class PublishedFiguresSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    n_cells = serializers.IntegerField()
    n_holding = serializers.IntegerField()
    cells = PublishedFigureSerializer(many=True)


class PrintedSerializer(Body):
    id = serializers.CharField(
        max_length=400,
        help_text="SYSTEM/FIGURE, such as Kite/score; docs/reproducing.md.",
    )
    value = serializers.JSONField(help_text="A number, a word, or a list of two.")
    tolerance = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="Largest allowed difference. If omitted, they must be equal.",
    )
    table = serializers.CharField(required=False, allow_blank=True, max_length=100)
    why = serializers.CharField(required=False, allow_blank=True, max_length=500)


class NewPublishedSerializer(Body):
    cells = serializers.ListField(
        child=PrintedSerializer(), allow_empty=False, max_length=5000
    )
    table = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=100,
        help_text="Table of numbers that do not name one.",
    )
    figures = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=100,
        help_text="The set of figures to compare with. If empty, the set that fits the "
        "judgments.",
    )
    why = serializers.CharField(default="", allow_blank=True, max_length=500)
    dry_run = serializers.BooleanField(default=False, help_text="Keep nothing.")


@operation(
    "Show published numbers next to Genie's",
    "Numbers published about a task's judgments, each next to Genie's value with the "
    "tolerance and a verdict. Empty if there are none.",
)
class TaskPublished(TaskView, DetailView):
    serializer_class = PublishedFiguresSerializer
    body_class = NewPublishedSerializer
    parser_classes = [JSONParser]
    # permissions to add and to delete; a role on the task is enough
    staff_permission = Staff.SEE_REFERENCES
    of_tasks = True

    def get_permissions(self) -> list[Any]:
        if self.request.method not in SAFE_METHODS:
            return [IsStaff()]
        return [*super().get_permissions()]

    def get_object(self) -> dict[str, Any]:
        task = self.task()
        rows = beside(task)
        return {
            "task": task.slug,
            "n_cells": len(rows),
            "n_holding": sum(row.cell.verdict is Verdict.HOLDS for row in rows),
            "cells": [row.record() for row in rows],
        }

    @operation(
        "Add published numbers of a task",
        "They replace earlier numbers of the same tables and are public. A list with "
        "errors is refused as a whole, and the response lists all errors.",
        "bad-expected",
        responses={201: PublishedFiguresSerializer, 200: PublishedFiguresSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        task, said = self._own(), self.body()
        dry, cells = said.pop("dry_run"), json.dumps(said.pop("cells"))
        if dry:
            plan_rows(task, expected_of(cells), **said)
            return self.retrieve(request)
        kept = keep_published(task, expected_of(cells), **said)
        by = cast("Account", request.user)
        note(by, task, f"Added {len(kept)} published numbers.")
        return Response(self.get_serializer(self.get_object()).data, status=201)

    @operation(
        "Delete published numbers of a task",
        parameters=[
            OpenApiParameter(
                "table", str, description="Only this table. If omitted, all tables."
            )
        ],
    )
    def delete(self, request: Request, slug: str) -> Response:
        task = self._own()
        n = forget_published(task, request.query_params.get("table"))
        note(cast("Account", request.user), task, f"Deleted {n} published numbers.")
        return Response(status=204)

    def _own(self) -> Task:
        task = self.task()
        if not staff_may(self.request.user, self.staff_permission, task.slug):
            raise PermissionDenied
        return task
