"""Shared parts of the n-gram metrics."""
