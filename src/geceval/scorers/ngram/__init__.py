"""What metrics of n-grams share."""
