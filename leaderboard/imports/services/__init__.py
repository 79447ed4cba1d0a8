"""Judgments become rows of the house: `bring_in` is the one way, `take_back` the way out."""
