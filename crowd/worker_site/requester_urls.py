"""Addresses of requesters' work on the worker site."""

from __future__ import annotations

from django.urls import path

from crowd.worker_site import (
    requester_frame,
    requester_groups,
    requester_qualification,
    requester_turn,
)

_SUBMIT = "mturk/externalSubmit"  # what pages written for Mechanical Turk append
urlpatterns = [
    path("requests/", requester_groups.groups, name="requests"),
    path("requests/<str:group_id>/", requester_groups.group, name="request"),
    path("requests/<str:group_id>/accept/", requester_groups.accept, name="accept"),
    path("turn/<str:entity_id>/", requester_turn.turn, name="turn"),
    path("turn/<str:entity_id>/return/", requester_turn.give_back, name="turn-return"),
    path(
        "requests/qualification/<str:entity_id>/",
        requester_qualification.qualification,
        name="requester-qualification",
    ),
    path(
        "requests/test/<str:entity_id>/",
        requester_qualification.test,
        name="requester-test",
    ),
    path("frame/<str:token>/", requester_frame.turn_frame, name="turn-frame"),
    path(f"frame/<str:token>/{_SUBMIT}", requester_frame.submit, name="submit"),
    # of pages that end the address themselves before they append
    path(f"frame/<str:token>//{_SUBMIT}", requester_frame.submit),
    path("look/<str:token>/", requester_frame.preview_frame, name="preview-frame"),
    path(
        f"look/<str:token>/{_SUBMIT}",
        requester_frame.submit_preview,
        name="submit-preview",
    ),
]
