from html import unescape
from typing import Any

from django import template
from django.template import Context, Node, NodeList
from django.template.base import Parser, Token
from django.utils.safestring import SafeString

from leaderboard.sharing.selectors import croissant_of, page_card, share_links

register = template.Library()
register.simple_tag(share_links)
register.simple_tag(croissant_of)


class _Kept(Node):
    def __init__(self, inside: NodeList, name: str, *, shown: bool) -> None:
        self.nodelist = inside
        self.name = name
        self.shown = shown

    def render(self, context: Context) -> SafeString:
        made = self.nodelist.render(context)
        # escaped again when it is next used
        context[self.name] = " ".join(unescape(made).split())
        return made if self.shown else SafeString("")


@register.tag
def keep(parser: Parser, token: Token) -> _Kept:
    """Store a block: `{% keep page_title %}...{% endkeep %}`, or `... silently`."""
    name, *how = token.split_contents()[1:]
    inside = parser.parse(("endkeep",))
    parser.delete_first_token()
    return _Kept(inside, name, shown=not how)


@register.inclusion_tag("parts/page_card.html", takes_context=True)
def describe_page(context: Context) -> dict[str, Any]:
    request = context.get("request")
    known: dict[Any, Any] = context.flatten()
    card = page_card(request, known) if request else None
    return {"card": card, "title": context.get("page_title", "Genie")}
