"""How well each detector finds noisy workers, by simulation."""
