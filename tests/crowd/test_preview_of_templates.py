import io
import json
import re
import threading
from urllib.parse import urlencode
from urllib.request import urlopen
from wsgiref.simple_server import make_server

import pytest
from django.core.management import CommandError, call_command

from crowd import hit_templates
from crowd.management.commands import preview_template
from crowd.management.commands.preview_template import Preview
from crowd.workers.hit_form import shown_item
from genie.lib.errors import GenieError
from tests.browser import violations
from tests.crowd.hits.test_answers_of_every_design import an_answer


class Visitor:
    """Asks a WSGI application as a browser would."""

    def __init__(self, application):
        self.application = application

    def ask(self, path="/", *, form=None, accept="text/html"):
        body = urlencode(form or {}).encode()
        said = []
        environ = {
            "REQUEST_METHOD": "GET" if form is None else "POST",
            "PATH_INFO": path,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_ACCEPT": accept,
            "wsgi.input": io.BytesIO(body),
        }
        parts = self.application(environ, lambda *line: said.extend(line))
        return int(said[0].split()[0]), b"".join(parts).decode()


def preview(slug="two-choice-outputs"):
    template = hit_templates.get(slug)
    return Preview(template, template.example)


@pytest.mark.parametrize("slug", hit_templates.all_templates())
def test_every_template_is_shown_and_can_be_answered_without_a_database(slug):
    one = preview(slug)
    visitor = Visitor(one)
    status, page = visitor.ask()
    assert status == 200
    assert one.hit_type.title in page
    questions = shown_item(one.hit_type, one.item, {}).questions
    form = {question.name: an_answer(question.scale) for question in questions}
    # marked errors: none, which is an answer, too
    form |= dict.fromkeys(re.findall(r'class="spans" name="([^"]+)"', page), "[]")
    status, page = visitor.ask(form=form)
    assert status == 200
    assert "It would have stored: " in page
    assert all(question.asked.key in page for question in questions)


def test_an_answer_that_is_refused_says_why():
    visitor = Visitor(preview())
    status, text = visitor.ask(form={"answer-0-0": "C"}, accept="application/json")
    assert status == 422
    assert "not a valid answer on the scale" in json.loads(text)["error"]
    assert "Please answer" in visitor.ask(form={"x": "y"})[1]


def test_the_sites_files_are_there_and_no_others():
    visitor = Visitor(preview())
    assert visitor.ask("/static/worker/hit.js")[0] == 200
    for path in ("nothing.js", "../manage.py", "/etc/passwd"):
        assert visitor.ask(f"/static/{path}")[0] == 404


def test_an_item_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(GenieError):
        Preview(hit_templates.get("translation"), {"fields": []})
    path = tmp_path / "item.json"
    for text in ("{", "[]", '{"fields": []}'):
        path.write_text(text)
        with pytest.raises(CommandError):
            call_command("preview_template", "translation", data=path)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("preview_template", "translation", data=tmp_path / "missing")
    with pytest.raises(CommandError, match="rankme-outputs"):
        call_command("preview_template", "nowhere")


def served(monkeypatch, *arguments, look):
    out, seen = io.StringIO(), []

    def serve(server, *_):
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        seen.append(look(f"http://127.0.0.1:{server.server_port}/"))
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(preview_template.WSGIServer, "serve_forever", serve)
    call_command("preview_template", *arguments, "--port=0", "--no-browser", stdout=out)
    return seen[0], out.getvalue()


def test_the_command_serves_an_item_of_ones_own(monkeypatch, tmp_path):
    item = dict(hit_templates.get("translation").example)
    item["prediction"] = "A sentence that is nowhere else."
    path = tmp_path / "item.json"
    path.write_text(json.dumps(item))
    page, out = served(
        monkeypatch,
        "translation",
        f"--data={path}",
        look=lambda url: urlopen(url, timeout=10).read().decode(),
    )
    assert "A sentence that is nowhere else." in page
    assert "http://127.0.0.1:" in out


@pytest.mark.browser
@pytest.mark.slow
def test_a_preview_works_in_a_browser(chromium):
    with make_server("127.0.0.1", 0, preview()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page = chromium.new_page()
            errors = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.keyboard.press("2")
            page.keyboard.press("Enter")
            page.wait_for_selector("#trouble:not([hidden])")
            assert "overall = 0" in page.inner_text("#trouble")
            assert violations(page) == []
            assert errors == []
            page.close()
        finally:
            server.shutdown()
            thread.join()
