"""The references of predictions: texts or an M2 file, and the choice among several annotators."""
