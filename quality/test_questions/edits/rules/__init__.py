"""The rules of edits: each yields changes of one kind that a text allows."""
