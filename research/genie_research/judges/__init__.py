"""The value of programs that rate beside people, by simulation and on published labels."""
