"""The pictures of the tutorials: there, small, and of pages that still answer."""

import re
import struct

import pytest
from django.core.management import call_command

from benchmarks.pictures import FOLDER, MOST_BYTES, PICTURES, SIZE
from leaderboard.models import Task
from leaderboard.site.docs import contents
from tests.factories import make_submission


def test_what_pages_show_is_what_the_command_takes():
    shown = {
        name
        for path in contents.FOLDER.glob("tutorial-*.md")
        for name in re.findall(r"\(pictures/(.+)\.png\)", path.read_text("utf-8"))
    }
    assert shown == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small(name):
    content = (FOLDER / f"{name}.png").read_bytes()
    assert len(content) < MOST_BYTES
    assert struct.unpack(">II", content[16:24]) == tuple(SIZE.values())


def test_the_pages_shown_still_answer(client, superuser, team):
    call_command("load_task", "demo-translation", verbosity=0)
    own = make_submission(Task.own.get(), team=team, owner=superuser)
    client.force_login(superuser)
    for picture in PICTURES.values():
        address = picture.begins.replace("/1/", f"/{own.pk}/")
        assert client.get(address).status_code == 200, address
