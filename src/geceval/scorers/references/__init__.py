"""What predictions are compared with: references or an M2 file, and which annotator of several."""
