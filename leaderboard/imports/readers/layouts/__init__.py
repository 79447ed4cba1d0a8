"""One module per layout; each is found by its class."""
