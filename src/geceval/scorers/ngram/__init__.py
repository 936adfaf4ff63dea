"""What the n-gram metrics share."""
