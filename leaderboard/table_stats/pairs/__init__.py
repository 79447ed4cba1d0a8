"""Tables of pairs: what their columns hold, and all that they say of systems."""
