from django.urls import path
from django.views.decorators.cache import cache_page
from django.views.decorators.http import conditional_page

from leaderboard.boards.selectors.version import KEPT_SECONDS
from leaderboard.sharing import views

_TASK = "tasks/<slug:slug>"

urlpatterns = [
    path(f"{_TASK}/board.svg", views.board_svg, name="board-svg"),
    path(f"{_TASK}/board.png", views.board_png, name="board-png"),
    path(f"{_TASK}/card.png", views.board_card, name="board-card"),
    path(f"{_TASK}/feed.atom", views.board_feed, name="board-feed"),
    path("card.png", views.site_card, name="site-card"),
    path("feed.atom", views.site_feed, name="site-feed"),
    path("robots.txt", views.robots_txt, name="robots"),
    path(
        "sitemap.xml",
        conditional_page(cache_page(KEPT_SECONDS, cache="shared")(views.sitemap)),
        name="sitemap",
    ),
]
