"""Shared parts of the metrics with a trained network."""
