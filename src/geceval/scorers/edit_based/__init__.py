"""Shared parts of the edit-based metrics."""
