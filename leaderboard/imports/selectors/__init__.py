"""Read imported ratings back."""
