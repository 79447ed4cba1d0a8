"""One file a layout; each is found by its class."""
