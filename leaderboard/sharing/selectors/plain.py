"""User-supplied texts, cleaned for other formats."""


def plain(text: str) -> str:
    """Remove characters that XML forbids, and those that change the text direction."""
    return "".join(sign for sign in text if sign.isprintable())
