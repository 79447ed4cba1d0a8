"""What was imported, read back."""
