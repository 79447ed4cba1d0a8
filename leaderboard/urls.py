from django.urls import include, path

from leaderboard.boards.views.board import board
from leaderboard.boards.views.my_submissions import (
    describe,
    handed_in,
    my_submissions,
    realigned_file,
    withdraw,
)
from leaderboard.boards.views.submission import submission
from leaderboard.boards.views.tasks import tasks
from leaderboard.evaluation.views import (
    ask_comparison,
    ask_joint,
    comparison,
    joint_evaluation,
)
from leaderboard.judges.views import judges
from leaderboard.metric_board.views.board import metric_board
from leaderboard.metric_board.views.downloads import metric_download
from leaderboard.metric_board.views.outside import hand_in_scores, outside_metric
from leaderboard.sharing.urls import urlpatterns as sharing
from leaderboard.site.docs.urls import urlpatterns as docs
from leaderboard.site.views import choose as choose_language
from leaderboard.site.views import favicon, home, how_it_works, privacy, public_log
from leaderboard.site.views import urlpatterns as public
from leaderboard.studio.urls import urlpatterns as studio
from leaderboard.submissions.views import submit
from leaderboard.teams.views import urlpatterns as account

app_name = "leaderboard"

urlpatterns = [
    *account,
    # before `public`, whose board.FORM would match the names of pictures
    *sharing,
    *public,
    path("studio/", include(studio)),
    path("docs/", include(docs)),
    path("", home, name="home"),
    path("favicon.ico", favicon),
    path("language/", choose_language, name="language"),
    path("how-it-works/", how_it_works, name="how-it-works"),
    path("privacy/", privacy, name="privacy"),
    path("history/", public_log, name="public-log"),
    path("tasks/", tasks, name="tasks"),
    path("tasks/<slug:slug>/", board, name="board"),
    path("tasks/<slug:slug>/submit/", submit, name="submit"),
    path("tasks/<slug:slug>/metrics/", metric_board, name="metric-board"),
    path("tasks/<slug:slug>/metrics/hand-in/", hand_in_scores, name="metric-hand-in"),
    path(
        "tasks/<slug:slug>/metrics/files/<str:name>",
        metric_download,
        name="metric-download",
    ),
    path("tasks/<slug:slug>/judges/", judges, name="judges"),
    path("metrics/<int:pk>/", outside_metric, name="metric-outside"),
    path("tasks/<slug:slug>/compare/", ask_comparison, name="ask-comparison"),
    path("tasks/<slug:slug>/side-by-side/", ask_joint, name="ask-joint"),
    path("comparisons/<int:pk>/", comparison, name="comparison"),
    path("joint-evaluations/<int:pk>/", joint_evaluation, name="joint"),
    path("submissions/", my_submissions, name="my-submissions"),
    path("submissions/<int:pk>/", submission, name="submission"),
    path("submissions/<int:pk>/file/", handed_in, name="file"),
    path("submissions/<int:pk>/realigned.json", realigned_file, name="realigned"),
    path("submissions/<int:pk>/withdraw/", withdraw, name="withdraw"),
    path("submissions/<int:pk>/describe/", describe, name="describe"),
]
