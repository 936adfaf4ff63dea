"""What GoToScorer stands on: how hard each chunk of a reference is to get right, and how to show it."""
