"""What a board tells when it is asked: what systems are, what changed, two against each other."""
