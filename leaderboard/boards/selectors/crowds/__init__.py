"""What is known of the crowds behind a board: linked, blind, alike."""
