"""What changed between two sentences; no torch."""
