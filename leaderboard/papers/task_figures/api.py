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
    planned,
)
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task


class PublishedFigureSerializer(serializers.Serializer[Any]):
    table = serializers.CharField(help_text="Where the number is printed.")
    row = serializers.CharField(
        help_text="A system, a pair A>B or a criterion before either; empty: the whole."
    )
    column = serializers.CharField()
    figure = serializers.CharField(
        help_text="The computation of ours that it is compared with, such as da-wins."
    )
    published = serializers.JSONField(help_text="A number or words as printed.")
    ours = serializers.JSONField(
        help_text="What comes out here; null where it cannot be computed."
    )
    tolerance = serializers.FloatField(
        allow_null=True, help_text="How far apart they may lie; null: not at all."
    )
    verdict = serializers.CharField(
        help_text=f"One of: {', '.join(verdict.value for verdict in Verdict)}."
    )
    why = serializers.CharField(help_text="Why it cannot come out, where it is known.")


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
        required=False, allow_null=True, help_text="Left out: not at all."
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
        help_text="Where those are printed that do not say it.",
    )
    figures = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=100,
        help_text="The set that they are compared with; empty: what fits the judgments.",
    )
    why = serializers.CharField(default="", allow_blank=True, max_length=500)
    dry_run = serializers.BooleanField(default=False, help_text="Keep nothing.")


@operation(
    "Show published numbers beside ours",
    "What was printed of a task's judgments, in a paper or elsewhere, each number beside "
    "ours with the tolerance and a verdict. Empty where nothing was kept.",
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
        "They take the place of what is kept of the same tables, and everybody sees them. "
        "A list of which anything is wrong is refused whole, with every entry that is.",
        "bad-expected",
        responses={201: PublishedFiguresSerializer, 200: PublishedFiguresSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        task, said = self._own(), self.body()
        dry, cells = said.pop("dry_run"), json.dumps(said.pop("cells"))
        if dry:
            planned(task, expected_of(cells), **said)
            return self.retrieve(request)
        kept = keep_published(task, expected_of(cells), **said)
        by = cast("Account", request.user)
        note(by, task, f"Added {len(kept)} published numbers.")
        return Response(self.get_serializer(self.get_object()).data, status=201)

    @operation(
        "Take published numbers of a task back",
        parameters=[
            OpenApiParameter("table", str, description="Only this one; left out: all.")
        ],
    )
    def delete(self, request: Request, slug: str) -> Response:
        task = self._own()
        n = forget_published(task, request.query_params.get("table"))
        note(cast("Account", request.user), task, f"Took back {n} published numbers.")
        return Response(status=204)

    def _own(self) -> Task:
        task = self.task()
        if not staff_may(self.request.user, self.staff_permission, task.slug):
            raise PermissionDenied
        return task
