"""Edits, the changes between two sentences; no torch."""
