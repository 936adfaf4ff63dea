"""The basis of GoToScorer: how hard each chunk of a reference is to get right, and how to show it."""
