"""The power of signs of programs, by simulation and with real models."""
