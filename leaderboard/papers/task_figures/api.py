"""A task's published numbers beside ours, as JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.boards.api.tasks import TaskView
from leaderboard.papers.cell import Verdict
from leaderboard.papers.task_figures.beside import beside


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


class TaskPublished(TaskView):
    serializer_class = PublishedFiguresSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_published_retrieve",
        summary="Show published numbers beside ours",
        description=(
            "What was printed of a task's judgments, in a paper or elsewhere, each number "
            "beside ours with the tolerance and a verdict. Empty where nothing was kept."
        ),
        responses={200: PublishedFiguresSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        rows = beside(task)
        found = {
            "task": task.slug,
            "n_cells": len(rows),
            "n_holding": sum(row.cell.verdict is Verdict.HOLDS for row in rows),
            "cells": [row.record() for row in rows],
        }
        return Response(self.get_serializer(found).data)
