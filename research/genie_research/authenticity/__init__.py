"""How well signs of programs tell them from people, by simulation and with real models."""
