"""What metrics with a trained network share."""
