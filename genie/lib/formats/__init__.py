"""Text formats that are safe for hostile content: CSV, LaTeX, conversations."""
