"""How well a script distinguishes shipped tasks' test questions from real items."""
