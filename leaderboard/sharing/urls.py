from django.contrib.sitemaps.views import sitemap
from django.urls import path

from leaderboard.sharing import views

_TASK = "tasks/<slug:slug>"

urlpatterns = [
    path(f"{_TASK}/board.svg", views.board_svg, name="board-svg"),
    path(f"{_TASK}/board.png", views.board_png, name="board-png"),
    path(f"{_TASK}/card.png", views.board_card, name="board-card"),
    path(f"{_TASK}/feed.atom", views.BoardFeed(), name="board-feed"),
    path("card.png", views.site_card, name="site-card"),
    path("feed.atom", views.SiteFeed(), name="site-feed"),
    path("robots.txt", views.robots_txt, name="robots"),
    path("sitemap.xml", sitemap, {"sitemaps": {"pages": views.Pages}}, name="sitemap"),
]
