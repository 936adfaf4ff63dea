"""ERRANT edits, and the spaCy pipeline they need."""
