"""Three-way alignment of source, prediction and reference (I-measure)."""
