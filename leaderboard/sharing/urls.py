"""Addresses of what others show, follow and find of the site."""

from __future__ import annotations

from django.contrib.sitemaps.views import sitemap
from django.urls import path

from leaderboard.sharing.views import machines, pictures
from leaderboard.sharing.views.feeds import BoardFeed, SiteFeed

_TASK = "tasks/<slug:slug>"

urlpatterns = [
    path(f"{_TASK}/board.svg", pictures.board_svg, name="board-svg"),
    path(f"{_TASK}/board.png", pictures.board_png, name="board-png"),
    path(f"{_TASK}/card.png", pictures.board_card, name="board-card"),
    path(f"{_TASK}/feed.atom", BoardFeed(), name="board-feed"),
    path("card.png", pictures.site_card, name="site-card"),
    path("feed.atom", SiteFeed(), name="site-feed"),
    path("robots.txt", machines.robots_txt, name="robots"),
    path("llms.txt", machines.llms_txt, name="llms"),
    path(
        "sitemap.xml", sitemap, {"sitemaps": {"pages": machines.Pages}}, name="sitemap"
    ),
]
