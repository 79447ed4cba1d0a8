"""Atom feeds: what happened on a board, and what was published on the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.feedgenerator import Atom1Feed

from leaderboard.sharing.selectors.events import Event, board_events, site_events
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors.site_urls import absolute

_FRESH_SECONDS = 300


if TYPE_CHECKING:
    _Feed = Feed[Event, Any]
else:
    _Feed = Feed  # a generic type to checkers alone


class _Events(_Feed):
    feed_type = Atom1Feed
    language = "en"
    author_name = "Genie"

    def __call__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer, and let others keep it for some minutes."""
        response: HttpResponse = super().__call__(request, *args, **kwargs)
        response["Cache-Control"] = f"public, max-age={_FRESH_SECONDS}"
        return response

    def item_title(self, item: Event) -> str:
        return item.title

    def item_description(self, item: Event) -> str:
        return item.text

    def item_link(self, item: Event) -> str:
        return item.address

    def item_guid(self, item: Event) -> str:
        return item.key

    def item_pubdate(self, item: Event) -> Any:
        return item.at

    def item_updateddate(self, item: Event) -> Any:
        return item.at


class BoardFeed(_Events):
    """Publications, changes of the leader and final scores of one board."""

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Task:
        return get_object_or_404(Task, slug=kwargs["slug"])

    def title(self, task: Task) -> str:
        return f"{task.title}: leaderboard · Genie"

    def subtitle(self, task: Task) -> str:
        return task.summary

    def link(self, task: Task) -> str:
        return absolute("leaderboard:board", task.slug)

    def feed_url(self, task: Task) -> str:
        return absolute("leaderboard:board-feed", task.slug)

    def items(self, task: Task) -> list[Event]:
        return board_events(task)


class SiteFeed(_Events):
    """What was published on all boards."""

    title = "Genie: new results"
    subtitle = "Human-evaluation leaderboards for text generation"

    def link(self) -> str:
        return absolute("leaderboard:home")

    def feed_url(self) -> str:
        return absolute("leaderboard:site-feed")

    def items(self) -> list[Event]:
        return site_events()
