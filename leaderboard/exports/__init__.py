"""What the site knows, in the formats that other programs and papers read."""
