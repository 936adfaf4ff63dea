"""What was computed before: in memory, and in a folder that processes share."""
