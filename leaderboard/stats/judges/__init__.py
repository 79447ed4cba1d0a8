"""Whether a program's labels can replace a person's."""
