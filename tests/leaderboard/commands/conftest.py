import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_team, make_user


@pytest.fixture
def nina(db):
    user = make_user("nina")
    make_team("Team Heron", user)
    return user


class Outcome:
    """What a command printed and how it ended."""

    def __init__(self, *args, **options):
        out, err = StringIO(), StringIO()
        self.refusal = ""
        try:
            call_command(*args, stdout=out, stderr=err, **options)
        except CommandError as error:
            self.refusal, self.returncode = str(error), error.returncode
        else:
            self.returncode = 0
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run():
    return Outcome
