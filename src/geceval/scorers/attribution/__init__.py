"""The share of each edit in the score of its sentence."""
