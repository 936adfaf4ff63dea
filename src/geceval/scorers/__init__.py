"""One file a metric: sources, predictions and perhaps references in, a Result out."""
