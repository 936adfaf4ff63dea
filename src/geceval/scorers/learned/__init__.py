"""What the metrics with a trained network share."""
