from django.urls import path

from crowd.requester.pages import frame, groups, qualification, turn

_SUBMIT = "mturk/externalSubmit"  # Pages written for Mechanical Turk append this.
urlpatterns = [
    path("requests/", groups.groups, name="requests"),
    path("requests/<str:group_id>/", groups.group, name="request"),
    path("requests/<str:group_id>/accept/", groups.accept, name="accept"),
    path("turn/<str:entity_id>/", turn.turn, name="turn"),
    path("turn/<str:entity_id>/return/", turn.give_back, name="turn-return"),
    path(
        "requests/qualification/<str:entity_id>/",
        qualification.qualification,
        name="requester-qualification",
    ),
    path("requests/test/<str:entity_id>/", qualification.test, name="requester-test"),
    path("frame/<str:token>/", frame.turn_frame, name="turn-frame"),
    path(f"frame/<str:token>/{_SUBMIT}", frame.submit, name="submit"),
    # for pages that end the address with a slash before they append
    path(f"frame/<str:token>//{_SUBMIT}", frame.submit),
    path("look/<str:token>/", frame.preview_frame, name="preview-frame"),
    path(f"look/<str:token>/{_SUBMIT}", frame.submit_preview, name="submit-preview"),
]
