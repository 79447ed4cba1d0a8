"""Judges that are programs against people, as the alternative annotator test has them."""
