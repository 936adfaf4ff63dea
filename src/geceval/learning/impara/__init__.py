"""IMPARA: ranked pairs, training, threshold, card."""
