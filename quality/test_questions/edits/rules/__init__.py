"""The rules of edits: each offers changes of one kind that a text allows."""
