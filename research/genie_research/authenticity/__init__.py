"""How well signs of programs distinguish them from people, by simulation and with real models."""
