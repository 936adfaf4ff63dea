"""How well a metric agrees with people; sees scores, never scorers."""
