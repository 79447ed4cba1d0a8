import pytest


@pytest.fixture(autouse=True)
def _one_board(db):
    """Let every test here use the database."""
