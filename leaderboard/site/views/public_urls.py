from django.urls import path

from genie.accounts.throttles import limit_files
from leaderboard.boards.views.board import board
from leaderboard.boards.views.evidence import (
    crowds,
    differences,
    evidence,
    story,
    weights,
)
from leaderboard.boards.views.exports import (
    board_export,
    board_records,
)
from leaderboard.papers.task_figures.views import published, published_file
from leaderboard.releases.views import card_file, card_page, newest_croissant
from leaderboard.submissions.views.check_file import check_file, sample

_TASK = "tasks/<slug:slug>"
_SUBMISSION = "submissions/<int:pk>"

urlpatterns = [
    path(f"{_TASK}/at/<slug:at>/", limit_files(board), name="board-at"),
    path(f"{_TASK}/board.<slug:form>", board_export, name="board-export"),
    path(f"{_TASK}/every-eval-ever.json", board_records, name="board-records"),
    path(f"{_TASK}/croissant.json", newest_croissant, name="croissant"),
    path(f"{_TASK}/check/", check_file, name="check"),
    path(f"{_TASK}/sample.json", sample, name="sample"),
    path(f"{_TASK}/differences/", differences, name="differences"),
    path(f"{_TASK}/evidence/", evidence, name="evidence"),
    path(f"{_TASK}/crowds/", crowds, name="crowds"),
    path(f"{_TASK}/published/", published, name="published"),
    path(f"{_TASK}/published.<slug:form>", published_file, name="published-file"),
    path(f"{_TASK}/weights/", weights, name="weights"),
    path(f"{_TASK}/story/", story, name="story"),
    path(f"{_SUBMISSION}/card/", card_page, name="card"),
    path(f"{_SUBMISSION}/card.<slug:form>", card_file, name="card-file"),
]
