"""The content of a release: the evidence of the public board, and no more."""
