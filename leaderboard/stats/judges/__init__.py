"""How far a program's labels may stand in for a person's."""
