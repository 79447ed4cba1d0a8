import pytest

from tests.crash import races

ROUNDS = 3


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", races.RACES)
def test_everybody_at_the_same_moment_comes_out_right(name):
    with races.runners() as to:
        for _ in range(ROUNDS):
            races.run_round(name, to)
