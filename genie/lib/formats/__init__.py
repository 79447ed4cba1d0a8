"""Text formats that hostile content cannot break: CSV, LaTeX, conversations."""
