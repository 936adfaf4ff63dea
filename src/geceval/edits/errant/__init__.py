"""ERRANT edits, and the spaCy pipeline that they need."""
