"""The value of programs' ratings, by simulation and on published labels."""
