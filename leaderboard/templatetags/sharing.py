"""What pages say of themselves to machines, and how their readers pass them on."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context, Node, NodeList
from django.template.base import Parser, Token
from django.utils.safestring import SafeString, mark_safe

from leaderboard.sharing.selectors.page_card import page_card
from leaderboard.sharing.selectors.share_links import share_links

register = template.Library()
register.simple_tag(share_links)


class _Kept(Node):
    """Shows what is inside, and keeps it under a name for later in the page."""

    def __init__(self, inside: NodeList, name: str) -> None:
        self.nodelist = inside
        self.name = name

    def render(self, context: Context) -> SafeString:
        shown = self.nodelist.render(context)
        # it comes escaped; as an attribute it must not end at a quotation mark
        in_attribute = " ".join(shown.split()).replace('"', "&quot;")
        context[self.name] = mark_safe(in_attribute)  # noqa: S308
        return shown


@register.tag
def keep(parser: Parser, token: Token) -> _Kept:
    """Say something twice that a page fills in once: `{% keep title %}...{% endkeep %}`."""
    name = token.split_contents()[1]
    inside = parser.parse(("endkeep",))
    parser.delete_first_token()
    return _Kept(inside, name)


@register.inclusion_tag("parts/page_card.html", takes_context=True)
def describe_page(context: Context) -> dict[str, Any]:
    """Write description, canonical address and card of a page that everybody may see."""
    request = context.get("request")
    known: dict[Any, Any] = context.flatten()
    card = page_card(request, known) if request else None
    return {"card": card, "title": context.get("page_title", "Genie")}
