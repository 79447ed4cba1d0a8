"""No reload, "back" or bookmark meets an empty refusal on an address that takes forms."""

from django.urls import NoReverseMatch, get_resolver, reverse

# Programs send to these; nobody has a page of theirs open.
OF_PROGRAMS = ("/hooks/", "/api/", "/turk")


def views(resolver, prefix=""):
    """Yield the name and the path's arguments of each view of the site."""
    for one in resolver.url_patterns:
        if hasattr(one, "url_patterns"):
            space = f"{prefix}{one.namespace}:" if one.namespace else prefix
            if one.namespace not in {"admin", "djdt"}:
                yield from views(one, space)
        elif one.name:
            yield f"{prefix}{one.name}", list(one.pattern.converters)


def test_a_get_is_answered_by_a_page_wherever_a_form_is_sent(client):
    empty, n_read = [], 0
    for name, arguments in views(get_resolver()):
        for value in ("1", "a"):
            try:
                path = reverse(name, kwargs=dict.fromkeys(arguments, value))
            except NoReverseMatch:
                continue
            if not path.startswith(OF_PROGRAMS):
                n_read += 1
                if client.get(path).status_code == 405:
                    empty.append(path)
            break
    assert n_read > 100
    assert empty == []
