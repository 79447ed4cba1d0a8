"""Texts that people chose, for files of others."""


def plain(text: str) -> str:
    """Leave out what no XML may hold, and what turns the direction of a line."""
    return "".join(sign for sign in text if sign.isprintable())
