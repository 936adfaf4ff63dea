"""IMPARA's objective on a causal language model: training, card."""
